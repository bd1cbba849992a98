/* Is every question answered and taken once, by however many, until it is stopped? */
#include "sim/cli/crew.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *crew_suite(void);

enum { INDICES = 500, STOPPED_AT = 100 };

static struct arena *arena;

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

/* The setup's factor times the question's number. */
static void
multiply(const void *setup, const struct text *question, struct text *answer)
{
    size_t number;
    memcpy(&number, question->bytes, sizeof number);
    number *= *(const size_t *)setup;
    text_append(answer, (const char *)&number, sizeof number);
}

static void
refuse(const void *setup, const struct text *question, struct text *answer)
{
    (void)setup;
    (void)question;
    (void)answer;
    ck_abort_msg("nobody asks this");
}

struct record {
    size_t answers[INDICES]; /* 1: known without asking */
    size_t taken, most;
};

/* Every third index is known. */
static bool
ask(void *context, size_t index, int thread, struct text *question)
{
    (void)context;
    ck_assert_int_lt(thread, 8);
    text_append(question, (const char *)&index, sizeof index);
    return index % 3 != 0;
}

static bool
take(void *context, size_t index, const struct text *answer)
{
    struct record *record = context;
    ck_assert_uint_eq(record->answers[index], 0);
    record->answers[index] = 1;
    if (answer)
        memcpy(&record->answers[index], answer->bytes, sizeof *record->answers);
    return ++record->taken < record->most;
}

static bool
run(struct record *record, int threads)
{
    static crew_answer *const answers[] = {refuse, multiply};
    static const size_t factor = 7;
    struct crew crew = {
        .arena = arena, .threads = threads, .answers = answers, .setup = &factor};
    struct crew_work work = {
        .question = 1, .count = INDICES, .context = record, .ask = ask, .take = take};
    ck_assert(crew_open(&crew));
    bool is_whole = crew_run(&crew, &work);
    crew_close(&crew);
    return is_whole;
}

START_TEST(every_index_is_answered_once)
{
    for (int threads = 1; threads <= 8; threads *= 2) {
        struct record record = {.most = INDICES + 1};
        ck_assert(run(&record, threads));
        for (size_t i = 0; i < INDICES; i++)
            ck_assert_uint_eq(record.answers[i], i % 3 == 0 ? 1 : 7 * i);
    }
}
END_TEST

START_TEST(after_a_refused_answer_nothing_more_is_asked)
{
    struct record record = {.most = STOPPED_AT};
    ck_assert(!run(&record, 4));
    ck_assert_uint_ge(record.taken, STOPPED_AT);
    ck_assert_uint_lt(record.taken, STOPPED_AT + 4);
}
END_TEST

static bool
is_always_stopped(void)
{
    return true;
}

START_TEST(what_is_stopped_before_it_begins_asks_nothing)
{
    static crew_answer *const answers[] = {refuse};
    struct record record = {.most = INDICES};
    struct crew crew = {
        .arena = arena, .threads = 2, .answers = answers, .is_stopped = is_always_stopped};
    struct crew_work work = {.count = INDICES, .context = &record, .ask = ask, .take = take};
    ck_assert(crew_open(&crew));
    ck_assert(!crew_run(&crew, &work));
    crew_close(&crew);
    ck_assert_uint_eq(record.taken, 0);
}
END_TEST

START_TEST(no_index_is_no_work)
{
    static crew_answer *const answers[] = {refuse};
    struct crew crew = {.arena = arena, .threads = 2, .answers = answers};
    ck_assert(crew_open(&crew));
    ck_assert(crew_run(&crew, &(struct crew_work){.ask = ask, .take = take}));
    crew_close(&crew);
}
END_TEST

Suite *
crew_suite(void)
{
    Suite *suite = suite_create("crew");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, every_index_is_answered_once);
    tcase_add_test(facts, after_a_refused_answer_nothing_more_is_asked);
    tcase_add_test(facts, what_is_stopped_before_it_begins_asks_nothing);
    tcase_add_test(facts, no_index_is_no_work);
    suite_add_tcase(suite, facts);
    return suite;
}
