/* The program's version: the one place that says it. */
#ifndef SIM_CLI_VERSION_H
#define SIM_CLI_VERSION_H

#define STEPCAST_VERSION "0.1.0"

/* That and which sources it was built from, "0.1.0+5f0e6a3b9c21d874": two programs of the same say
 * the same. Made by the Makefile. */
extern const char program_version[];

#endif
