/* The program's version: the one place that says it. */
#ifndef SIM_CLI_VERSION_H
#define SIM_CLI_VERSION_H

#define STEPCAST_VERSION "0.1.0"

#endif
