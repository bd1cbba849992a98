/* Messages over MPI: sent and received without waiting, and looked after at each call. */
#include "sim/cli/ranks.h"

#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { TAG = 1 };

static const double CLOSE_S = 1;

/* A message on its way; its bytes have an arena of their own, since they go when it has arrived. */
struct letter {
    MPI_Request request;
    struct arena *arena;
    struct text bytes;
    int rank;
    bool is_used;
};

struct letters {
    struct letter *items;
    size_t count, room;
};

struct ranks {
    struct arena *arena;
    int own, count;
    struct letters outgoing, incoming;
};

int
ranks_started(void)
{
    int count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

struct ranks *
ranks_open(struct arena *arena)
{
    int own = 0, count = ranks_started();
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    if (count == 1)
        return NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    struct ranks *ranks = arena_alloc(arena, 1, sizeof *ranks);
    *ranks = (struct ranks){.arena = arena, .own = own, .count = count};
    return ranks;
}

int
ranks_count(const struct ranks *ranks)
{
    return ranks->count;
}

int
ranks_own(const struct ranks *ranks)
{
    return ranks->own;
}

static struct letter *
new_letter(struct letters *letters, int rank, struct arena *arena)
{
    size_t i = 0;
    while (i < letters->count && letters->items[i].is_used)
        i++;
    if (i == letters->count) {
        letters->items = arena_grow(arena, letters->items, letters->count, &letters->room,
                                    sizeof *letters->items);
        letters->count++;
    }
    struct letter *letter = &letters->items[i];
    *letter = (struct letter){.rank = rank, .is_used = true, .arena = arena_new_beside(arena)};
    letter->bytes = text_new(letter->arena);
    return letter;
}

static void
drop_letter(struct letter *letter)
{
    letter->is_used = false;
    arena_free(letter->arena);
}

/* A message to or from a process that is gone may end in a fault: then it has gone nowhere. */
static bool
has_arrived(struct letter *letter, bool *is_right)
{
    int is_done = 0;
    *is_right = MPI_Test(&letter->request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    return is_done || !*is_right;
}

static size_t
clear_sent(struct ranks *ranks)
{
    size_t left = 0;
    for (size_t i = 0; i < ranks->outgoing.count; i++) {
        struct letter *letter = &ranks->outgoing.items[i];
        bool is_right = false;
        if (letter->is_used && has_arrived(letter, &is_right))
            drop_letter(letter);
        left += letter->is_used;
    }
    return left;
}

void
ranks_send(struct ranks *ranks, int to, const struct text *message)
{
    struct letter *letter = new_letter(&ranks->outgoing, to, ranks->arena);
    text_append(&letter->bytes, message->bytes, message->length);
    if (MPI_Isend(letter->bytes.bytes, (int)letter->bytes.length, MPI_BYTE, to, TAG,
                  MPI_COMM_WORLD, &letter->request) != MPI_SUCCESS)
        drop_letter(letter);
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): tested until it has gone */
    clear_sent(ranks);
}

/* One that begins to come in. */
static void
expect_letter(struct ranks *ranks)
{
    MPI_Message message;
    MPI_Status status;
    int has_come = 0, length = 0;
    if (MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &has_come, &message, &status) !=
            MPI_SUCCESS ||
        !has_come)
        return;
    MPI_Get_count(&status, MPI_BYTE, &length);
    struct letter *letter = new_letter(&ranks->incoming, status.MPI_SOURCE, ranks->arena);
    letter->bytes.bytes = arena_alloc(letter->arena, (size_t)length + 1, 1);
    letter->bytes.length = (size_t)length;
    if (MPI_Imrecv(letter->bytes.bytes, length, MPI_BYTE, &message, &letter->request) !=
        MPI_SUCCESS)
        drop_letter(letter);
}

/* Long messages of one process may not overtake each other: the first that began is looked at. */
bool
ranks_receive(struct ranks *ranks, int *from, struct text *message)
{
    clear_sent(ranks);
    expect_letter(ranks);
    for (size_t i = 0; i < ranks->incoming.count; i++) {
        struct letter *letter = &ranks->incoming.items[i];
        bool is_right = false;
        if (!letter->is_used || !has_arrived(letter, &is_right))
            continue;
        *from = letter->rank;
        if (is_right)
            text_append(message, letter->bytes.bytes, letter->bytes.length);
        drop_letter(letter);
        if (is_right)
            return true;
    }
    return false;
}

void
ranks_close(struct ranks *ranks, bool is_whole)
{
    double begun_s = MPI_Wtime();
    while (clear_sent(ranks) > 0 && MPI_Wtime() - begun_s < CLOSE_S)
        ;
    if (!is_whole) /* for sim/cli/main_mpi.c */
        MPI_Comm_set_name(MPI_COMM_WORLD, "not whole");
}
