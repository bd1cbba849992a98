/* A few numbers a kind, all at once, as the hops between ranks are common to all.
 *
 *     launch_s         a call, whatever its bytes
 *     efficiency       of the links, in the transfer of a kind
 *     own_part_ratio   what the part that stays costs beside one that leaves
 *     link_hop_s       a step between ranks, told apart from calls by groups of several sizes
 *     fill_s           what a transfer takes more while its pipeline fills */
#include "validate/fabric_fit.h"

#include <math.h>
#include <string.h>

#include "hw/collective.h"
#include "sim/base/json_edit.h"
#include "sim/base/json_writer.h"
#include "validate/minimize.h"

enum { STARTS = 6, POLISHES = 2, POLISH_EVALUATIONS = 200 };

static const double LEAST_SIGMA = 0.03; /* clocks and neighbours disturb every time so much */

/* A number of the fabric and where it stands in the file. */
struct number {
    double *value;
    const char *path;
    double least, most;
    bool is_logarithmic;
};

struct fitting {
    const struct fabric_fit_question *question;
    struct cluster *cluster;
    const struct measured **rows; /* on the fit side */
    size_t row_count;
    struct number numbers[MINIMIZE_VARIABLES_MAX];
    size_t number_count;
};

static bool
is_of_kind(const struct measured *row, enum collective_kind kind)
{
    return row->is_collective && row->collective.kind == kind;
}

static enum split_part
part_of(const struct measured *row, uint64_t seed, struct arena *arena)
{
    return row->has_part ? row->part : split_part(measured_shape(row, arena), seed);
}

static void
add_number(struct fitting *fitting, struct number number)
{
    if (fitting->number_count < MINIMIZE_VARIABLES_MAX)
        fitting->numbers[fitting->number_count++] = number;
}

static size_t
rows_of_kind(const struct fitting *fitting, enum collective_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < fitting->row_count; i++)
        count += is_of_kind(fitting->rows[i], kind);
    return count;
}

static bool
has_several_sizes_of_group(const struct fitting *fitting)
{
    for (size_t i = 1; i < fitting->row_count; i++)
        if (fitting->rows[i]->collective.ranks != fitting->rows[0]->collective.ranks)
            return true;
    return false;
}

static void
find_numbers(struct fitting *fitting, struct arena *arena)
{
    struct fabric *fabric = &fitting->cluster->fabric;
    for (int i = 0; i < COLLECTIVE_KIND_COUNT; i++) {
        struct fabric_tuning *tuning = &fabric->tunings[i];
        const char *name = collective_kind_name((enum collective_kind)i);
        if (rows_of_kind(fitting, (enum collective_kind)i) == 0)
            continue;
        add_number(fitting,
                   (struct number){&tuning->launch_s,
                                   arena_format(arena, "collectives.%s.launch_s", name), 1e-8,
                                   1e-2, true});
        add_number(fitting,
                   (struct number){&tuning->efficiency,
                                   arena_format(arena, "collectives.%s.efficiency", name), 0.01,
                                   1, true});
        add_number(fitting,
                   (struct number){&tuning->own_part_ratio,
                                   arena_format(arena, "collectives.%s.own_part_ratio", name),
                                   0, 4, false});
    }
    if (fabric->protocol_count != 1) /* which is whose, these rows do not tell */
        return;
    add_number(fitting, (struct number){&fabric->protocols[0].fill_s, "protocols.0.fill_s",
                                        1e-12, 1e-3, true});
    if (has_several_sizes_of_group(fitting))
        add_number(fitting, (struct number){&fabric->protocols[0].link_hop_s,
                                            "protocols.0.link_hop_s", 1e-9, 1e-3, true});
}

/* ---- The fit */

/* log(predicted / measured); a row that has no price was refused before. */
static double
residual_of(const struct cluster *cluster, const struct measured *row)
{
    struct collective_cost cost = {0};
    struct error_list errors = {0};
    (void)collective_cost(cluster, &row->collective, &cost, &errors);
    return log((cost.latency_s + cost.transfer_s) / row->measured_s);
}

static void
residuals_at(void *context, const double *at, double *residuals)
{
    const struct fitting *fitting = context;
    for (size_t i = 0; i < fitting->number_count; i++)
        *fitting->numbers[i].value = at[i];
    for (size_t i = 0; i < fitting->row_count; i++) {
        double residual = residual_of(fitting->cluster, fitting->rows[i]);
        /* a square near 0, a magnitude far off: one bad row does not steer */
        residuals[i] = copysign(sqrt(hypot(residual, 0.1) - 0.1), residual);
    }
}

static bool
descend(struct fitting *fitting, struct arena *arena, struct error_list *errors)
{
    struct minimize_variable variables[MINIMIZE_VARIABLES_MAX];
    double best[MINIMIZE_VARIABLES_MAX];
    for (size_t i = 0; i < fitting->number_count; i++) {
        const struct number *number = &fitting->numbers[i];
        double start = fmin(fmax(*number->value, number->least), number->most);
        variables[i] = (struct minimize_variable){start, number->least, number->most,
                                                  number->is_logarithmic};
    }
    struct minimize_problem problem = {.variables = variables,
                                       .count = fitting->number_count,
                                       .residuals = residuals_at,
                                       .residual_count = fitting->row_count,
                                       .context = fitting,
                                       .start_count = STARTS,
                                       .polish_count = POLISHES,
                                       .polish_evaluations_max =
                                           POLISH_EVALUATIONS * fitting->number_count};
    struct minimum minimum;
    if (fitting->row_count < fitting->number_count)
        return error_add(errors, ERROR_INPUT, "",
                         "%zu measured collectives to fit %zu numbers to", fitting->row_count,
                         fitting->number_count);
    if (!minimize(&problem, best, &minimum, arena))
        return error_add(errors, ERROR_INPUT, "", "no memory for a fit of collectives");
    residuals_at(
        fitting, best,
        arena_alloc(arena, fitting->row_count, sizeof(double))); /* stays at the best */
    return true;
}

/* Of a kind: what the fit still misses its own rows by. */
static double
sigma_of(const struct fitting *fitting, enum collective_kind kind)
{
    double squares = 0;
    size_t count = rows_of_kind(fitting, kind);
    for (size_t i = 0; i < fitting->row_count; i++) {
        double residual = residual_of(fitting->cluster, fitting->rows[i]);
        if (is_of_kind(fitting->rows[i], kind))
            squares += residual * residual;
    }
    return fmin(1, fmax(LEAST_SIGMA, sqrt(squares / (double)count)));
}

/* ---- The file */

struct writing {
    const struct json *file;
    const char *source;
    struct json_edit edit;
    struct arena *arena;
};

/* A number of a tuning that the file leaves out joins it; the file as it is where there is no such
 * tuning. NULL after adding a fault. */
static const struct json *
with_number(const struct json *file, const char *path, struct arena *arena,
            struct error_list *errors)
{
    const char *name = strrchr(path, '.') + 1;
    const struct json *object =
        json_at(file, arena_format(arena, "%.*s", (int)(name - 1 - path), path));
    struct json_edit edit = {0};
    struct text text = text_new(arena);
    if (!object || json_kind(object) != JSON_KIND_OBJECT || json_count(object) == 0 ||
        json_member(object, name))
        return file;
    json_edit_add(&edit, object, name, "{\"value\": 0, \"source\": \"\"}", arena);
    json_edit_apply(&edit, file, &text);
    return json_read_text(arena, "the fabric", 1, text.bytes, text.length, errors);
}

static bool
put(struct writing *writing, const char *path, double value, struct error_list *errors)
{
    const struct json *object = json_at(writing->file, path);
    if (!object || !json_member(object, "value") || !json_member(object, "source"))
        return json_fail(writing->file, errors, "lacks %s, that a fit wants to put there",
                         path);
    struct text source = text_new(writing->arena);
    struct json_writer writer = json_writer_new(&source, false);
    json_write_string(&writer, writing->source);
    json_edit_replace(&writing->edit, json_member(object, "value"),
                      arena_format(writing->arena, "%.4g", value), writing->arena);
    json_edit_replace(&writing->edit, json_member(object, "source"), source.bytes,
                      writing->arena);
    return true;
}

/* How far each measured kind is off, behind the numbers that were fitted. */
static void
add_sigmas(struct fitting *fitting, struct arena *arena)
{
    for (int i = 0; i < COLLECTIVE_KIND_COUNT; i++) {
        enum collective_kind kind = (enum collective_kind)i;
        double *sigma = &fitting->cluster->fabric.tunings[i].relative_sigma;
        const char *path =
            arena_format(arena, "collectives.%s.relative_sigma", collective_kind_name(kind));
        if (rows_of_kind(fitting, kind) == 0)
            continue;
        *sigma = sigma_of(fitting, kind);
        add_number(fitting, (struct number){.value = sigma, .path = path});
    }
}

static bool
write_file(const struct fitting *fitting, struct text *out, struct error_list *errors)
{
    const struct fabric_fit_question *question = fitting->question;
    struct writing writing = {
        .file = question->file, .source = question->source, .arena = out->arena};
    bool is_whole = true;
    for (size_t i = 0; i < fitting->number_count && writing.file; i++)
        writing.file = with_number(writing.file, fitting->numbers[i].path, out->arena, errors);
    if (!writing.file)
        return false;
    for (size_t i = 0; i < fitting->number_count; i++)
        is_whole =
            put(&writing, fitting->numbers[i].path, *fitting->numbers[i].value, errors) &&
            is_whole;
    if (is_whole)
        json_edit_apply(&writing.edit, writing.file, out);
    return is_whole;
}

/* ---- All of it */

static bool
take_rows(struct fitting *fitting, struct fabric_fit *fit, struct arena *arena,
          struct error_list *errors)
{
    const struct fabric_fit_question *question = fitting->question;
    fitting->rows = arena_alloc(arena, question->list->count + 1, sizeof *fitting->rows);
    for (size_t i = 0; i < question->list->count; i++) {
        const struct measured *row = &question->list->items[i];
        struct collective_cost cost;
        if (!row->is_collective)
            continue;
        if (!collective_cost(fitting->cluster, &row->collective, &cost, errors))
            return false;
        if (part_of(row, question->seed, arena) == SPLIT_FIT)
            fitting->rows[fitting->row_count++] = row;
        else
            fit->held_out_count++;
    }
    fit->fit_count = fitting->row_count;
    return fitting->row_count > 0 ||
           error_add(errors, ERROR_INPUT, "", "no measured collective to fit to");
}

bool
fabric_fit(const struct fabric_fit_question *question, struct fabric_fit *fit, struct text *out,
           struct error_list *errors)
{
    *fit = (struct fabric_fit){.cluster = *question->cluster};
    struct fitting fitting = {.question = question, .cluster = &fit->cluster};
    if (!take_rows(&fitting, fit, out->arena, errors))
        return false;
    find_numbers(&fitting, out->arena);
    if (!descend(&fitting, out->arena, errors))
        return false;
    add_sigmas(&fitting, out->arena);
    return write_file(&fitting, out, errors);
}
