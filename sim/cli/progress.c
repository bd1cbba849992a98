/* A line that is written over itself. */
#include "sim/cli/progress.h"

#include <stdio.h>

#include <unistd.h>

#include "sim/base/units.h"

static const double RENEWED_S = 0.25, RATE_FROM_S = 0.5;

static double
now_s(const struct progress *progress)
{
    return progress->clock.now_s(progress->clock.context);
}

struct progress
progress_begin(const char *command, const char *noun, size_t total, bool is_wanted)
{
    struct progress progress = {.command = command,
                                .noun = noun,
                                .is_wanted = is_wanted && isatty(STDERR_FILENO) == 1,
                                .total = total,
                                .clock = measure_system_clock()};
    progress.begun_s = now_s(&progress);
    return progress;
}

/* "1:02:05 left", "3:07 left". */
static void
print_left(char *out, size_t size, double left_s)
{
    const double most_s = 99 * 3600.0;
    int seconds = (int)(left_s < most_s ? left_s + 0.5 : most_s);
    int hours = seconds / 3600, minutes = seconds / 60 % 60;
    if (hours > 0)
        (void)snprintf(out, size, ", %d:%02d:%02d left", hours, minutes, seconds % 60);
    else
        (void)snprintf(out, size, ", %d:%02d left", minutes, seconds % 60);
}

struct progress_line
progress_line_of(const struct progress *progress, size_t done, size_t known, double now)
{
    char total[32] = "", kept[32] = "", rate[32] = "", left[32] = "";
    double spent_s = now - progress->begun_s;
    double rate_per_s = (double)(done - known) / spent_s;
    bool has_rate = spent_s > RATE_FROM_S && rate_per_s > 0;
    struct progress_line line;
    if (progress->total > 0)
        (void)snprintf(total, sizeof total, " of %zu", progress->total);
    if (known > 0)
        (void)snprintf(kept, sizeof kept, ", %zu known", known);
    if (has_rate)
        (void)snprintf(rate, sizeof rate, ", %s/s", units_format_count(rate_per_s).text);
    if (has_rate && progress->total > done)
        print_left(left, sizeof left, (double)(progress->total - done) / rate_per_s);
    (void)snprintf(line.text, sizeof line.text, "stepcast %.20s: %zu%s %.20s%s%s%s",
                   progress->command, done, total, progress->noun, kept, rate, left);
    return line;
}

void
progress_show(struct progress *progress, size_t done, size_t known)
{
    double now = progress->is_wanted ? now_s(progress) : 0;
    if (!progress->is_wanted || now - progress->shown_s < RENEWED_S)
        return;
    progress->shown_s = now;
    fprintf(stderr, "\r\033[K%s", progress_line_of(progress, done, known, now).text);
    fflush(stderr);
}

void
progress_hide(struct progress *progress)
{
    if (progress->shown_s > 0)
        fprintf(stderr, "\r\033[K");
    progress->shown_s = 0;
}
