/* Process 0 keeps a few questions with each other one. Who sends nothing for a while is lost: its
 * questions go to somebody else, and should it speak again, its answers are no longer wanted. A
 * thread of each process only passes messages, so that long answers are no silence. */
#include "sim/cli/crew_ranks.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/select.h>

#include "sim/cli/parallel.h"
#include "validate/measure_times.h"

enum message_kind {
    MESSAGE_HELLO,
    MESSAGE_QUESTION,
    MESSAGE_ANSWER,
    MESSAGE_ALIVE,
    MESSAGE_END
};

/* What each message begins with. */
struct message {
    uint64_t kind;
    uint64_t shift, index; /* of questions and answers */
    uint64_t question;     /* which; of an end, whether all processes are there */
};

/* A process gets as many as it has threads, and one more that waits for the first to end. */
enum { ASKED_MOST = 257, SILENT_FROM_S = 5, FOREMAN_SILENT_FROM_S = 60 };

struct crew_mate {
    bool is_here, is_lost;
    double heard_s; /* when, last */
    size_t asked[ASKED_MOST];
    size_t asked_count;
};

static_assert(ASKED_MOST == PARALLEL_THREADS_MAX + 1, "one for each thread, and one more");

static double
now_s(void)
{
    struct measure_clock clock = measure_system_clock();
    return clock.now_s(clock.context);
}

/* While there is nothing to do: MPI itself would keep a core busy. */
static void
rest(void)
{
    (void)select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 200});
}

static void
send_message(const struct crew *crew, int to, struct message head,
             const struct text *rest_of_it)
{
    struct arena *arena = arena_new_beside(crew->arena);
    struct text message = text_new(arena);
    text_append(&message, (const char *)&head, sizeof head);
    if (rest_of_it && rest_of_it->length > 0)
        text_append(&message, rest_of_it->bytes, rest_of_it->length);
    ranks_send(crew->ranks, to, &message);
    arena_free(arena);
}

static struct message
head_of(const struct text *message)
{
    struct message head;
    assert(message->length >= sizeof head && "all messages are ours");
    memcpy(&head, message->bytes, sizeof head);
    return head;
}

/* What follows the head; it lives as long as the message. */
static struct text
rest_of(const struct text *message)
{
    struct text behind = *message;
    behind.bytes += sizeof(struct message);
    behind.length -= sizeof(struct message);
    return behind;
}

static int
mate_count(const struct crew *crew)
{
    return ranks_count(crew->ranks);
}

/* Questions of one mate at a time. */
static size_t
depth(const struct crew *crew)
{
    return (size_t)crew->threads + 1;
}

size_t
crew_ranks_asked_most(const struct crew *crew)
{
    return depth(crew) * (size_t)mate_count(crew);
}

static void
greet(struct crew *crew, int rank, const struct text *identity)
{
    const char *own = crew->identity ? crew->identity : "";
    bool is_same =
        identity->length == strlen(own) && !memcmp(identity->bytes, own, strlen(own));
    crew->mates[rank].is_here = is_same;
    if (!is_same)
        fprintf(stderr,
                "stepcast: process %d has other files or is another program: it is not asked\n",
                rank);
}

static void
take_answer(struct crew_shift *shift, struct crew_mate *mate, const struct message *head,
            const struct text *answer)
{
    size_t i = 0;
    while (i < mate->asked_count && mate->asked[i] != head->index)
        i++;
    if (i == mate->asked_count)
        return;
    mate->asked[i] = mate->asked[--mate->asked_count];
    crew_shift_take(shift, (size_t)head->index, answer);
}

/* All messages that have come; whether there were any. Between shifts there is no shift. */
static bool
hear(struct crew *crew, struct crew_shift *shift)
{
    struct arena *arena = crew->arenas[crew->threads];
    int from = 0;
    for (int count = 0;; count++) {
        arena_clear(arena);
        struct text message = text_new(arena);
        if (!ranks_receive(crew->ranks, &from, &message))
            return count > 0;
        struct crew_mate *mate = &crew->mates[from];
        struct message head = head_of(&message);
        struct text behind = rest_of(&message);
        mate->heard_s = now_s();
        if (head.kind == MESSAGE_HELLO)
            greet(crew, from, &behind);
        else if (head.kind == MESSAGE_ANSWER && !mate->is_lost && shift &&
                 head.shift == crew->shift)
            take_answer(shift, mate, &head, &behind);
    }
}

/* Asks a mate one question; false when none is left. */
static bool
ask_mate(struct crew_shift *shift, int rank)
{
    const struct crew *crew = shift->crew;
    struct crew_mate *mate = &crew->mates[rank];
    struct arena *arena = crew->arenas[crew->threads];
    size_t index = 0;
    if (!crew_shift_index(shift, &index))
        return false;
    arena_clear(arena);
    struct text question = text_new(arena);
    if (!shift->work->ask(shift->work->context, index, crew->threads, &question)) {
        crew_shift_take(shift, index, NULL);
        return true;
    }
    mate->asked[mate->asked_count++] = index;
    send_message(
        crew, rank,
        (struct message){MESSAGE_QUESTION, crew->shift, index, (uint64_t)shift->work->question},
        &question);
    return true;
}

/* One question more for each who has room; whether anything was asked. */
static bool
ask_all(struct crew_shift *shift)
{
    const struct crew *crew = shift->crew;
    bool is_any = false;
    for (int rank = 1; rank < mate_count(crew); rank++) {
        const struct crew_mate *mate = &crew->mates[rank];
        if (mate->is_here && !mate->is_lost && mate->asked_count < depth(crew))
            is_any = ask_mate(shift, rank) || is_any;
    }
    return is_any;
}

/* Gives up who has been silent for too long; whether nobody is left. */
static bool
miss(struct crew_shift *shift)
{
    const struct crew *crew = shift->crew;
    double patience_s = crew->patience_s > 0 ? crew->patience_s : SILENT_FROM_S;
    bool is_nobody_left = true;
    for (int rank = 1; rank < mate_count(crew); rank++) {
        struct crew_mate *mate = &crew->mates[rank];
        bool is_silent =
            mate->is_here && !mate->is_lost && now_s() - mate->heard_s > patience_s;
        if (is_silent) {
            fprintf(stderr, "stepcast: process %d is lost; others do what it was asked\n",
                    rank);
            crew_shift_return(shift, mate->asked, mate->asked_count);
            mate->asked_count = 0;
            mate->is_lost = true;
        }
        is_nobody_left = is_nobody_left && mate->is_lost;
    }
    return is_nobody_left;
}

void
crew_ranks_work(struct crew_shift *shift)
{
    struct crew *crew = shift->crew;
    for (int rank = 1; rank < mate_count(crew); rank++) {
        crew->mates[rank].asked_count = 0;
        crew->mates[rank].heard_s = now_s();
    }
    while (!crew_shift_is_done(shift)) {
        bool is_heard = hear(crew, shift);
        bool is_asked = ask_all(shift);
        if (miss(shift))
            crew_shift_work(shift, crew->threads);
        if (!is_heard && !is_asked)
            rest();
    }
}

void
crew_ranks_end(struct crew *crew)
{
    bool is_whole = true;
    hear(crew, NULL);
    for (int rank = 1; rank < mate_count(crew); rank++)
        is_whole = is_whole && !crew->mates[rank].is_lost;
    for (int rank = 1; rank < mate_count(crew); rank++)
        send_message(crew, rank, (struct message){.kind = MESSAGE_END, .question = is_whole},
                     NULL);
    ranks_close(crew->ranks, is_whole);
}

enum job_state { JOB_FREE, JOB_ASKED, JOB_TAKEN, JOB_ANSWERED };

struct job {
    enum job_state state; /* under the lock */
    struct arena *arena;
    struct text message, answer;
};

/* A process that answers. */
struct service {
    struct crew *crew;
    struct parallel_lock *lock;
    struct job *jobs;
    size_t job_count;
    bool is_over, is_whole; /* is_over under the lock */
};

/* A job of that state, which it leaves for another; NULL when there is none. */
static struct job *
find_job(struct service *service, enum job_state from, enum job_state to, bool *is_over)
{
    struct job *found = NULL;
    parallel_lock_take(service->lock);
    for (size_t i = 0; i < service->job_count && !found; i++)
        if (service->jobs[i].state == from)
            found = &service->jobs[i];
    if (found)
        found->state = to;
    *is_over = service->is_over;
    parallel_lock_give(service->lock);
    return found;
}

static void
set_state(struct service *service, struct job *job, enum job_state state)
{
    parallel_lock_take(service->lock);
    job->state = state;
    parallel_lock_give(service->lock);
}

static void
answer_jobs(struct service *service)
{
    const struct crew *crew = service->crew;
    for (bool is_over = false; !is_over;) {
        struct job *job = find_job(service, JOB_ASKED, JOB_TAKEN, &is_over);
        if (!job) {
            rest();
            continue;
        }
        struct text question = rest_of(&job->message);
        job->answer = text_new(job->arena);
        crew->answers[head_of(&job->message).question](crew->setup, &question, &job->answer);
        set_state(service, job, JOB_ANSWERED);
    }
}

/* False when nothing has come. */
static bool
receive_job(struct service *service, struct job *job)
{
    int from = 0;
    arena_clear(job->arena);
    job->message = text_new(job->arena);
    if (!ranks_receive(service->crew->ranks, &from, &job->message))
        return false;
    struct message head = head_of(&job->message);
    if (head.kind == MESSAGE_QUESTION) {
        set_state(service, job, JOB_ASKED);
    } else if (head.kind == MESSAGE_END) {
        parallel_lock_take(service->lock);
        service->is_over = true;
        service->is_whole = head.question != 0;
        parallel_lock_give(service->lock);
    }
    return true;
}

static bool
send_answers(struct service *service)
{
    bool is_over = false, is_any = false;
    for (struct job *job; (job = find_job(service, JOB_ANSWERED, JOB_TAKEN, &is_over));) {
        struct message head = head_of(&job->message);
        head.kind = MESSAGE_ANSWER;
        send_message(service->crew, 0, head, &job->answer);
        set_state(service, job, JOB_FREE);
        is_any = true;
    }
    return is_any;
}

/* Passes messages, and says every second that it is there. */
static void
pass_messages(struct service *service)
{
    double told_s = now_s(), heard_s = told_s;
    for (bool is_over = false; !is_over;) {
        bool is_busy = send_answers(service);
        struct job *job = find_job(service, JOB_FREE, JOB_TAKEN, &is_over);
        bool is_received = job && receive_job(service, job);
        if (job && job->state == JOB_TAKEN)
            set_state(service, job, JOB_FREE);
        heard_s = is_received ? now_s() : heard_s;
        if (now_s() - told_s > 1) {
            send_message(service->crew, 0, (struct message){.kind = MESSAGE_ALIVE}, NULL);
            told_s = now_s();
        }
        if (now_s() - heard_s > FOREMAN_SILENT_FROM_S) {
            parallel_lock_take(service->lock);
            service->is_over = true;
            parallel_lock_give(service->lock);
        }
        if (!is_busy && !is_received)
            rest();
    }
}

static void
serve_on(void *context, int thread)
{
    if (thread == 0)
        pass_messages(context);
    else
        answer_jobs(context);
}

static void
serve(struct crew *crew)
{
    struct service service = {
        .crew = crew, .lock = parallel_lock_new(crew->arena), .job_count = 2 * depth(crew)};
    struct text identity = text_new(crew->arena);
    service.jobs = arena_alloc(crew->arena, service.job_count, sizeof *service.jobs);
    for (size_t i = 0; i < service.job_count; i++)
        service.jobs[i].arena = arena_new_beside(crew->arena);
    text_format(&identity, "%s", crew->identity ? crew->identity : "");
    send_message(crew, 0, (struct message){.kind = MESSAGE_HELLO}, &identity);
    parallel_team_run(&(struct parallel_team){serve_on, &service}, crew->threads + 1);
    for (size_t i = 0; i < service.job_count; i++)
        arena_free(service.jobs[i].arena);
    parallel_lock_free(service.lock);
    ranks_close(crew->ranks, service.is_whole);
}

bool
crew_ranks_begin(struct crew *crew)
{
    if (ranks_own(crew->ranks) > 0) {
        serve(crew);
        return false;
    }
    crew->mates = arena_alloc(crew->arena, (size_t)mate_count(crew), sizeof *crew->mates);
    return true;
}
