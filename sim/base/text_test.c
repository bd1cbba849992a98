/* Text that grows, and whole files in and out, whatever the path turns out to be. */
#include "sim/base/text.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check_arena.h"

static struct arena *arena;
static struct error_list errors;
static char folder[32];

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    snprintf(folder, sizeof folder, "/tmp/text_test_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* Also shows that the test left nothing but what it removed. */
static void
teardown(void)
{
    ck_assert_int_eq(rmdir(folder), 0);
    arena_free(arena);
}

static const char *
in_folder(const char *name)
{
    return arena_format(arena, "%s/%s", folder, name);
}

static struct text
text_of(const char *letters)
{
    struct text text = text_new(arena);
    text_append(&text, letters, strlen(letters));
    return text;
}

static void
check_content(const char *path, const char *wanted)
{
    struct text text = text_new(arena);
    ck_assert(text_read_file(&text, path, 1000, &errors));
    ck_assert_uint_eq(text.length, strlen(wanted));
    ck_assert_str_eq(text.length ? text.bytes : "", wanted);
}

START_TEST(text_grows_at_its_end)
{
    struct text text = text_new(arena);
    ck_assert_ptr_null(text.bytes);
    text_append(&text, "", 0);
    ck_assert_str_eq(text.bytes, "");
    for (int i = 0; i < 10000; i++)
        text_format(&text, "%04d", i);
    text_append(&text, "a\0b", 3);
    ck_assert_uint_eq(text.length, 40003);
    ck_assert_int_eq(memcmp(text.bytes + 39996, "9999a\0b", 8), 0);
}
END_TEST

START_TEST(a_file_reads_back_as_it_was_written)
{
    const char *path = in_folder("a");
    struct text text = text_of("one\ntwo");
    ck_assert(text_write_file(&text, path, &errors));
    check_content(path, "one\ntwo");
    text = text_of("three");
    ck_assert(text_write_file(&text, path, &errors)); /* replaced, not written over */
    check_content(path, "three");
    text = text_new(arena);
    ck_assert(text_write_file(&text, path, &errors));
    check_content(path, "");
    ck_assert_int_eq(errors.count, 0);
    unlink(path);
}
END_TEST

START_TEST(a_missing_file_is_an_io_fault)
{
    struct text text = text_new(arena);
    ck_assert(!text_read_file(&text, "/nowhere/a.json", 1000, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_str_eq(errors.items[0].where, "/nowhere/a.json");
    ck_assert_str_eq(errors.items[0].what, "cannot be opened: No such file or directory");
}
END_TEST

START_TEST(a_folder_is_no_file)
{
    struct text text = text_of("x");
    ck_assert(!text_read_file(&text, folder, 1000, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_str_eq(errors.items[0].what, "is a folder, a file is wanted");
    ck_assert(!text_write_file(&text, folder, &errors));
    ck_assert_str_eq(errors.items[1].what, "cannot be written: Is a directory");
}
END_TEST

START_TEST(the_limit_counts_to_the_byte)
{
    const char *path = in_folder("a");
    struct text text = text_of("12345");
    ck_assert(text_write_file(&text, path, &errors));
    struct text read = text_new(arena);
    ck_assert(text_read_file(&read, path, 5, &errors));
    read = text_new(arena);
    ck_assert(!text_read_file(&read, path, 4, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_str_eq(errors.items[0].what, "is larger than the 4 bytes allowed");
    unlink(path);
}
END_TEST

START_TEST(a_file_without_end_stops_at_the_limit)
{
    struct text text = text_new(arena);
    ck_assert(!text_read_file(&text, "/dev/zero", 100000, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_uint_le(text.length, 100000);
}
END_TEST

START_TEST(a_pipe_reads_to_its_end)
{
    const char *path = in_folder("pipe");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        int file = open(path, O_WRONLY);
        _exit(write(file, "abc", 3) == 3 && write(file, "def", 3) == 3 ? 0 : 1);
    }
    check_content(path, "abcdef");
    waitpid(child, NULL, 0);
    unlink(path);
}
END_TEST

START_TEST(a_dash_reads_standard_input)
{
    const char *path = in_folder("a");
    struct text text = text_of("from the keyboard");
    ck_assert(text_write_file(&text, path, &errors));
    int file = open(path, O_RDONLY);
    dup2(file, STDIN_FILENO);
    check_content("-", "from the keyboard");
    close(file);
    unlink(path);
}
END_TEST

START_TEST(what_cannot_be_written_leaves_nothing_behind)
{
    struct text text = text_of("x");
    const char *path = in_folder("missing/a");
    ck_assert(!text_write_file(&text, path, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_str_eq(errors.items[0].where, path);
    ck_assert_str_eq(errors.items[0].what, "cannot be written: No such file or directory");
    ck_assert(!text_write_file(&text, "/proc/a", &errors)); /* nobody may write there */
    ck_assert(!text_write_file(&text, "", &errors));
}
END_TEST

static size_t
count_files(const char *path)
{
    DIR *entries = opendir(path);
    size_t count = 0;
    while (readdir(entries))
        count++;
    closedir(entries);
    return count - 2; /* "." and ".." */
}

START_TEST(a_full_disk_is_an_io_fault)
{
    struct text text = text_of("x");
    ck_assert(!text_write_file(&text, "/dev/full", &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_str_eq(errors.items[0].what, "cannot be written: No space left on device");
}
END_TEST

/* A limit on the size of files stands for a disk that fills up in the middle of one. */
START_TEST(a_write_that_breaks_off_keeps_the_old_file)
{
    const char *path = in_folder("a");
    struct text text = text_of("old");
    ck_assert(text_write_file(&text, path, &errors));
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, RLIM_INFINITY}), 0);
    text = text_of("");
    text_format(&text, "%10000d", 1);
    bool is_written = text_write_file(&text, path, &errors);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    ck_assert(!is_written);
    ck_assert_str_eq(errors.items[0].what, "cannot be written: File too large");
    check_content(path, "old");
    ck_assert_uint_eq(count_files(folder), 1);
    unlink(path);
}
END_TEST

START_TEST(a_file_written_piece_by_piece_takes_its_name_in_the_end)
{
    struct text text = text_new(arena);
    const char *path = in_folder("pieces");
    struct text_file *file = text_file_open(path, arena, &errors);
    ck_assert(text_file_append(file, "one ", 4, &errors));
    ck_assert(text_file_append(file, "two", 3, &errors));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(text_file_finish(file, &errors));
    ck_assert(text_read_file(&text, path, 100, &errors));
    ck_assert_str_eq(text.bytes, "one two");
    unlink(path);
}
END_TEST

START_TEST(an_unfinished_file_stays_beside_or_goes)
{
    const char *path = in_folder("pieces");
    struct text_file *file = text_file_open(path, arena, &errors);
    ck_assert(text_file_append(file, "one", 3, &errors));
    const char *part = text_file_leave(file, &errors);
    ck_assert_str_eq(part, in_folder("pieces.part"));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(unlink(part), 0);
    text_file_drop(text_file_open(path, arena, &errors));
    ck_assert_int_eq(errors.count, 0);
}
END_TEST

START_TEST(a_symbolic_link_stays_one)
{
    struct text text = text_of("new"), second = text_of("newer");
    const char *target = in_folder("target"), *link = in_folder("link");
    ck_assert(text_write_file(&text, target, &errors));
    ck_assert_int_eq(symlink(target, link), 0);
    ck_assert(text_write_file(&second, link, &errors));
    struct stat status;
    ck_assert_int_eq(lstat(link, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    check_content(target, "newer");
    unlink(link);
    unlink(target);
}
END_TEST

/* Through the pipe's own name, as a shell's >(...) has it; a read that finds nothing fails. */
START_TEST(a_device_is_written_straight)
{
    struct text text = text_of("seen");
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    const char *path = arena_format(arena, "/dev/fd/%d", ends[1]);
    bool is_written = text_write_file(&text, path, &errors);
    close(ends[1]);
    char seen[5] = "";
    ssize_t length = read(ends[0], seen, 4);
    close(ends[0]);
    ck_assert(is_written);
    ck_assert_int_eq(length, 4);
    ck_assert_str_eq(seen, "seen");
    ck_assert(text_write_file(&text, "/dev/null", &errors));
}
END_TEST

Suite *text_suite(void);

Suite *
text_suite(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, text_grows_at_its_end);
    tcase_add_test(tests, a_file_reads_back_as_it_was_written);
    tcase_add_test(tests, a_missing_file_is_an_io_fault);
    tcase_add_test(tests, a_folder_is_no_file);
    tcase_add_test(tests, the_limit_counts_to_the_byte);
    tcase_add_test(tests, a_file_without_end_stops_at_the_limit);
    tcase_add_test(tests, a_pipe_reads_to_its_end);
    tcase_add_test(tests, a_dash_reads_standard_input);
    tcase_add_test(tests, what_cannot_be_written_leaves_nothing_behind);
    tcase_add_test(tests, a_full_disk_is_an_io_fault);
    tcase_add_test(tests, a_write_that_breaks_off_keeps_the_old_file);
    tcase_add_test(tests, a_file_written_piece_by_piece_takes_its_name_in_the_end);
    tcase_add_test(tests, an_unfinished_file_stays_beside_or_goes);
    tcase_add_test(tests, a_symbolic_link_stays_one);
    tcase_add_test(tests, a_device_is_written_straight);
    suite_add_tcase(suite, tests);
    return suite;
}
