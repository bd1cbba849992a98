/* Lists of flows as they come, and lists that are none: each fault with its line. */
#include "hw/flow_list.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"
#include "sim/base/check_near.h"

enum { RANKS = 32 };

#define HEAD "id,start_s,src,dst,bytes,deps\n"

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static const struct flow_list *
read_list(const char *csv)
{
    struct text *text = arena_alloc(arena, 1, sizeof *text);
    *text = text_new(arena);
    text_append(text, csv, strlen(csv));
    return flow_list_read("a.csv", text, RANKS, arena, &errors);
}

static const struct flow_list *
read_right(const char *csv)
{
    const struct flow_list *list = read_list(csv);
    ck_assert_str_eq(check_json_faults(arena, &errors), "");
    ck_assert_ptr_nonnull(list);
    return list;
}

static void
check_fault(const char *csv, const char *fault)
{
    ck_assert_ptr_null(read_list(csv));
    ck_assert_str_eq(check_json_faults(arena, &errors), fault);
}

static void
check_flow(const struct flow *flow, struct flow wanted)
{
    CHECK_NEAR(flow->start_s, wanted.start_s, 0);
    CHECK_NEAR(flow->bytes, wanted.bytes, 0);
    ck_assert_uint_eq(flow->from, wanted.from);
    ck_assert_uint_eq(flow->to, wanted.to);
}

static void
check_id(const struct flow_list *list, size_t flow, const char *wanted)
{
    size_t length;
    const char *id = flow_list_id(list, flow, &length);
    ck_assert_uint_eq(length, strlen(wanted));
    ck_assert_mem_eq(id, wanted, length);
}

START_TEST(a_row_is_a_flow)
{
    const struct flow_list *list = read_right("# two flows\n" HEAD "a,0,0,9,48000000,\n"
                                              "b-2,0.0005,8,15,4.8e7,a\n");
    ck_assert_uint_eq(list->count, 2);
    check_flow(&list->flows[0], (struct flow){.from = 0, .to = 9, .bytes = 48e6});
    check_flow(&list->flows[1],
               (struct flow){.start_s = 0.0005, .from = 8, .to = 15, .bytes = 48e6});
    check_id(list, 0, "a");
    check_id(list, 1, "b-2");
    ck_assert_uint_eq(list->flows[1].dependency_begin, 0);
    ck_assert_uint_eq(list->flows[2].dependency_begin, 1);
    ck_assert_uint_eq(list->dependencies[0], 0);
    ck_assert_ptr_null(list->order); /* as they stand */
    ck_assert_str_eq(flow_list_where(list, 1, arena), "a.csv:4");
}
END_TEST

/* As spreadsheets and other systems write it. */
START_TEST(quotes_blanks_crlf_and_a_byte_order_mark_change_nothing)
{
    const struct flow_list *list =
        read_right("\xEF\xBB\xBF\"id\",start_s, src ,dst,bytes,deps\r\n\r\n"
                   "\"a\",\"0\",\"0\",1,48,\"\"\r\n b , .5 ,1,2,+4.8E1,\"a\"\r\n"
                   "c,0,2,3,0,\"a;b\"");
    ck_assert_uint_eq(list->count, 3);
    check_id(list, 0, "a");
    check_id(list, 1, "b");
    check_flow(&list->flows[0], (struct flow){.from = 0, .to = 1, .bytes = 48});
    check_flow(&list->flows[1], (struct flow){.start_s = 0.5, .from = 1, .to = 2, .bytes = 48});
    ck_assert_uint_eq(list->flows[3].dependency_begin, 3);
    ck_assert_uint_eq(list->dependencies[2], 1);
}
END_TEST

/* 15 digits and a point are read by a division, the others by the C library. */
START_TEST(numbers_are_read_to_the_last_bit)
{
    const struct flow_list *list = read_right(HEAD "a,0.001527549,0,1,123456789012345,\n"
                                                   "b,0.1234567890123456789,0,1,1e23,\n");
    CHECK_NEAR(list->flows[0].start_s, 0.001527549, 0);
    CHECK_NEAR(list->flows[0].bytes, 123456789012345.0, 0);
    CHECK_NEAR(list->flows[1].start_s, 0.1234567890123456789, 0);
    CHECK_NEAR(list->flows[1].bytes, 1e23, 0);
}
END_TEST

START_TEST(a_list_without_flows_is_a_list)
{
    ck_assert_uint_eq(read_right(HEAD)->count, 0);
}
END_TEST

/* c comes first in the file and last in the order. */
START_TEST(dependencies_may_stand_further_down)
{
    const struct flow_list *list = read_right(HEAD "c,0,0,1,1,b;a\na,0,0,1,1,\nb,0,0,1,1,a\n");
    ck_assert_uint_eq(list->order[0], 1);
    ck_assert_uint_eq(list->order[1], 2);
    ck_assert_uint_eq(list->order[2], 0);
}
END_TEST

/* Numbered from 0 as they stand, as most lists are, or not quite: ids are texts all the same. */
START_TEST(an_id_that_is_a_number_is_found_by_its_text)
{
    const struct flow_list *list = read_right(HEAD "0,0,0,1,1,2\n1,0,0,1,1,0;2\n2,0,0,1,1,\n");
    ck_assert_uint_eq(list->dependencies[0], 2);
    ck_assert_uint_eq(list->dependencies[1], 0);
    ck_assert_uint_eq(list->dependencies[2], 2);
    list = read_right(HEAD "1,0,0,1,1,\n0,0,0,1,1,1\n00,0,0,1,1,0\n");
    ck_assert_uint_eq(list->dependencies[0], 0);
    ck_assert_uint_eq(list->dependencies[1], 1);
    check_fault(HEAD "0,0,0,1,1,\n1,0,0,1,1,00\n", "a.csv:3: deps: no flow has the id 00");
    check_fault(HEAD "0,0,0,1,1,\n1,0,0,1,1,2\n", "a.csv:3: deps: no flow has the id 2");
    check_fault(HEAD "0,0,0,1,1,\n1,0,0,1,1,4294967296\n",
                "a.csv:3: deps: no flow has the id 4294967296");
    check_fault(HEAD "0,0,0,1,1,\n0,0,0,1,1,\n", "a.csv:3: a second flow of the id 0");
}
END_TEST

START_TEST(each_wrong_row_is_named)
{
    check_fault(HEAD "a,0,0,32,1,\nb,0,x,1,1,\nc,0,,1,1,\n",
                "a.csv:2: dst is \"32\", wanted a rank from 0 to 31\n"
                "a.csv:3: src is \"x\", wanted a rank from 0 to 31\n"
                "a.csv:4: src is \"\", wanted a rank from 0 to 31");
    check_fault(HEAD "a,0,0,-1,1,\nb,0,0,99999999999999999999,1,\n",
                "a.csv:2: dst is \"-1\", wanted a rank from 0 to 31\n"
                "a.csv:3: dst is \"99999999999999999999\", wanted a rank from 0 to 31");
    check_fault(HEAD "a,0,3,3,1,\n",
                "a.csv:2: src and dst are one rank: what stays there is no flow");
    check_fault(HEAD "a,0,0,1\nb,0,0,1,1,,\n",
                "a.csv:2: 4 fields, wanted 6\na.csv:3: 7 fields, wanted 6");
    check_fault(HEAD ",0,0,1,1,\na b,0,0,1,1,\n",
                "a.csv:2: \"\" is no id, wanted text without blanks and semicolons\n"
                "a.csv:3: \"a b\" is no id, wanted text without blanks and semicolons");
    check_fault(HEAD "\"a,0,0,1,1,\n\"a\"b,0,0,1,1,\nc,0\"0\",0,1,1,\n",
                "a.csv:2: a quote that does not enclose a whole field\n"
                "a.csv:3: a quote that does not enclose a whole field\n"
                "a.csv:4: a quote that does not enclose a whole field");
}
END_TEST

START_TEST(numbers_that_are_none_or_out_of_range_are_named)
{
    check_fault(HEAD "a,-1,0,1,1,\nb,nan,0,1,1,\nc,0x1,0,1,1,\n",
                "a.csv:2: start_s is \"-1\", wanted a number from 0 to 3.2e+07\n"
                "a.csv:3: start_s is \"nan\", wanted a number from 0 to 3.2e+07\n"
                "a.csv:4: start_s is \"0x1\", wanted a number from 0 to 3.2e+07");
    check_fault(HEAD "a,0,0,1,1e999,\nb,0,0,1,,\nc,0,0,1,1.2.3,\n",
                "a.csv:2: bytes is \"1e999\", wanted a number from 0 to 1e+24\n"
                "a.csv:3: bytes is \"\", wanted a number from 0 to 1e+24\n"
                "a.csv:4: bytes is \"1.2.3\", wanted a number from 0 to 1e+24");
}
END_TEST

START_TEST(ids_given_twice_or_never_are_named)
{
    check_fault(HEAD "a,0,0,1,1,\nb,0,0,1,1,\na,0,0,1,1,\n",
                "a.csv:4: a second flow of the id a");
    check_fault(HEAD "a,0,0,1,1,\nb,0,0,1,1,a;c\n", "a.csv:3: deps: no flow has the id c");
    check_fault(HEAD "a,0,0,1,1,\nb,0,0,1,1,a;\n",
                "a.csv:3: deps is \"a;\", wanted ids joined by semicolons");
}
END_TEST

START_TEST(flows_that_wait_for_each_other_are_named)
{
    check_fault(HEAD "a,0,0,1,1,\nb,0,0,1,1,d\nc,0,0,1,1,a;b\nd,0,0,1,1,c\n",
                "a.csv:3: a circle of deps: b waits for d, d for c, c for b");
    check_fault(HEAD "a,0,0,1,1,a\n", "a.csv:2: a circle of deps: a waits for a");
}
END_TEST

START_TEST(a_file_of_another_form_is_named)
{
    check_fault("", "a.csv:1: wanted the columns id,start_s,src,dst,bytes,deps");
    check_fault("id,src,dst\n0,1,2\n",
                "a.csv:1: wanted the columns id,start_s,src,dst,bytes,deps\n"
                "a.csv:2: 3 fields, wanted 6");
}
END_TEST

Suite *flow_list_suite(void);

Suite *
flow_list_suite(void)
{
    Suite *suite = suite_create("flow_list");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, a_row_is_a_flow);
    tcase_add_test(facts, quotes_blanks_crlf_and_a_byte_order_mark_change_nothing);
    tcase_add_test(facts, numbers_are_read_to_the_last_bit);
    tcase_add_test(facts, an_id_that_is_a_number_is_found_by_its_text);
    tcase_add_test(facts, a_list_without_flows_is_a_list);
    tcase_add_test(facts, dependencies_may_stand_further_down);
    tcase_add_test(facts, each_wrong_row_is_named);
    tcase_add_test(facts, numbers_that_are_none_or_out_of_range_are_named);
    tcase_add_test(facts, ids_given_twice_or_never_are_named);
    tcase_add_test(facts, flows_that_wait_for_each_other_are_named);
    tcase_add_test(facts, a_file_of_another_form_is_named);
    suite_add_tcase(suite, facts);
    return suite;
}
