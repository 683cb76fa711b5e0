#include "runtime/record-stdio.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "fault-sys.h"
#include "format/reader.h"
#include "program.h"
#include "temp-dir.h"
#include "test.h"

/* The content of the file: messages, and the counts of its gaps. */
struct content {
    struct sink sink;
    uint64_t headers, messages, gaps, missing, footers;
};

static bool count(struct sink *self, const struct record *r, struct err *e)
{
    struct content *c = (struct content *)self;

    (void)e;
    c->headers += r->kind == RECORD_HEADER;
    c->messages += r->kind == RECORD_MESSAGE;
    c->gaps += r->kind == RECORD_GAP;
    c->missing += r->kind == RECORD_GAP ? r->gap.messages : 0;
    c->footers += r->kind == RECORD_FOOTER;
    return true;
}

static void ignore(void *to, struct str line)
{
    (void)to;
    (void)line;
}

static struct content content_of(const char *path)
{
    struct content c = { .sink = { count } };
    struct log log = { .level = LOG_ERROR, .write = ignore };
    struct err e = ERR_NONE;

    if (!reader_read_all(&sys_real, path, &log, &c.sink, &e))
        fail_msg("%s", e.msg);
    return c;
}

/* A session of four requests and their answers, one after the other: ten lines and the
 * footer. The server waits for a word before it goes on. */
#define REQUEST(n) "{\"id\":" #n ",\"method\":\"ping\"}\n"
#define ANSWER(n) "{\"id\":" #n ",\"result\":{}}\n"
#define QUESTIONS REQUEST(1) REQUEST(2) REQUEST(3) REQUEST(4)
#define ANSWERS ANSWER(1) ANSWER(2) ANSWER(3) ANSWER(4)

enum { LINES = 12 }; /* header, start, eight messages, end, footer */

static const char script[] =
    "for i in 1 2 3 4; do read x; echo \"{\\\"id\\\":$i,\\\"result\\\":{}}\"; done; exit 4";

static void run(struct program *p, const struct sys *sys, const char *more)
{
    program_run(p, sys, PROGRAM_WORDS("record", "-o", "file", more, "--", "sh", "-c", script),
                STR(QUESTIONS));
    assert_str(buf_str(&p->out), STR(ANSWERS));
}

static unsigned count_of(const struct program *p, const char *what)
{
    struct str rest = buf_str(&p->err);
    unsigned n = 0;

    while (rest.len) {
        struct str line = str_cut(&rest, '\n');
        n += line.len && memmem(line.at, line.len, what, strlen(what)) != NULL;
    }
    return n;
}

#define WAITS "buffering the recording in memory: cannot write 'file': "
#define LACKS "the recording is incomplete: cannot write 'file': "

/* The session does not notice, and the file has every message in the end. */
static void expect_nothing_lost_when(unsigned at, unsigned most, int reason)
{
    bool reported = reason != EINTR;
    struct fault_sys f;
    struct content c;
    struct program p;

    fault_init(&f);
    if (most)
        fault_short(&f, FAULT_WRITE, at, 1, 7);
    fault_fail(&f, FAULT_WRITE, at + most, 1, reason);
    run(&p, &f.sys, "--strict");
    assert_int_equal(p.code, 4);
    assert_int_equal(count_of(&p, WAITS), reported);
    assert_int_equal(count_of(&p, "mcpreel: "), reported ? 3 : 2);
    program_release(&p);
    c = content_of("file");
    assert_int_equal(c.headers, 1);
    assert_int_equal(c.messages, 8);
    assert_int_equal(c.gaps, 0);
    assert_int_equal(c.footers, 1);
    unlink("file");
}

/* For every write, every reason, with none or some of the bytes written. */
static void a_temporary_write_failure_loses_nothing(void **state)
{
    static const int reasons[] = { ENOSPC, EIO, EDQUOT, EFBIG, EINTR };

    (void)state;
    for (unsigned at = 1; at < LINES; at++)
        for (unsigned most = 0; most < 2; most++)
            for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
                expect_nothing_lost_when(at, most, reasons[i]);
}

/* From some write on the disk is full for good. */
static void a_full_disk_loses_the_rest_and_is_reported(void **state)
{
    (void)state;
    for (unsigned at = 2; at < LINES; at++) {
        struct fault_sys f;
        struct content c;
        struct program p;
        bool strict = at % 2;

        fault_init(&f);
        fault_fail(&f, FAULT_WRITE, at, FAULT_FOREVER, ENOSPC);
        run(&p, &f.sys, strict ? "--strict" : "--tags=x");
        assert_int_equal(p.code, strict ? RECORD_OUTPUT_FAILED : 4);
        assert_int_equal(count_of(&p, WAITS "No space left on device"), 1);
        assert_int_equal(count_of(&p, LACKS "No space left on device"), 1);
        c = content_of("file");
        assert_true(c.messages < 8 || at == LINES - 1);
        if (c.messages < 8)
            assert_int_equal(count_of(&p, "recorded only "), 1);
        assert_int_equal(c.headers, 1);
        assert_int_equal(c.footers, 0);
        program_release(&p);
        unlink("file");
    }
}

static void a_failed_sync_is_reported_once_and_fails_if_strict(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        struct fault_sys f;
        struct program p;

        fault_init(&f);
        fault_fail(&f, FAULT_FDATASYNC, 1, FAULT_FOREVER, EIO);
        run(&p, &f.sys, strict ? "--strict" : "--tags=x");
        assert_int_equal(p.code, strict ? RECORD_OUTPUT_FAILED : 4);
        assert_int_equal(count_of(&p, "the recording may not survive a power cut: cannot "
                                      "sync 'file': Input/output error"),
                         1);
        program_release(&p);
        assert_int_equal(content_of("file").messages, 8);
        unlink("file");
    }
}

static bool is_empty(const char *path)
{
    struct err e = ERR_NONE;
    uint64_t size = 0;
    struct file f;

    assert_true(file_open(&f, &sys_real, path, &e) && file_size(&f, &size, &e));
    file_close(&f, &e);
    return size == 0;
}

static void assert_in_file(struct str answers, const char *path)
{
    struct content c = { .messages = 0 };
    uint64_t got = 0;

    if (!is_empty(path))
        c = content_of(path);

    for (size_t n; (n = str_find(answers, '\n')) < answers.len; got++)
        answers = str_skip(answers, n + 1);
    assert_true(c.messages >= 2 * got); /* each with its server request */
}

/* Killed at each call that changes the file, also while it repairs a truncated line: all
 * messages that the client got are in the file, and the file can be read. */
static void a_killed_recording_has_every_message_that_the_client_received(void **state)
{
    static const enum fault_call calls[] = { FAULT_WRITE, FAULT_FTRUNCATE, FAULT_FDATASYNC,
                                             FAULT_FSYNC };
    unsigned killed = 0;

    (void)state;
    for (size_t kind = 0; kind < sizeof calls / sizeof *calls; kind++)
        for (unsigned at = 1; at <= LINES + 2; at++) {
            struct fault_sys f;
            struct program p;

            fault_init(&f);
            fault_kill(&f, calls[kind], at);
            program_run(&p, &f.sys,
                        PROGRAM_WORDS("-q", "record", "-o", "file", "--flush-interval", "0",
                                      "--", "sh", "-c", script),
                        STR(QUESTIONS));
            assert_true(p.code == -SIGKILL || p.code == 4);
            killed += p.code == -SIGKILL;
            assert_in_file(buf_str(&p.out), "file");
            program_release(&p);
            unlink("file");
        }
    assert_true(killed > LINES);
}

static void a_line_that_stays_incomplete_is_tolerated(void **state)
{
    struct fault_sys f;
    struct program p;

    (void)state;
    fault_init(&f);
    fault_short(&f, FAULT_WRITE, 5, 1, 7);
    fault_fail(&f, FAULT_WRITE, 6, FAULT_FOREVER, EIO);
    fault_kill(&f, FAULT_FTRUNCATE, 1);
    program_run(&p, &f.sys,
                PROGRAM_WORDS("-q", "record", "-o", "file", "--", "sh", "-c", script),
                STR(QUESTIONS));
    assert_int_equal(p.code, -SIGKILL);
    program_release(&p);
    assert_int_equal(content_of("file").messages, 2);
}

static void a_document_is_made_at_the_end(void **state)
{
    struct program p;

    (void)state;
    program_run(&p, NULL, PROGRAM_WORDS("record", "-o", "file.json", "--", "sh", "-c", script),
                STR(QUESTIONS));
    assert_int_equal(p.code, 4);
    assert_str(buf_str(&p.err), STR("mcpreel: recording to file.json\n"
                                    "mcpreel: recorded 8 messages in file.json; lost in "
                                    "'cassette': the exact bytes of 8 messages, the times of 8 "
                                    "messages, 2 starts and ends of the server, the server's "
                                    "command and arguments, how the recording ended, the order "
                                    "of messages of 3 overlapping calls\n"));
    program_release(&p);
    assert_int_equal(content_of("file.json").messages, 8);
    assert_int_equal(access("file.json.cassette.journal", F_OK), -1);
}

static void a_failed_document_leaves_its_journal(void **state)
{
    struct fault_sys f;
    struct program p;

    (void)state;
    fault_init(&f);
    fault_fail(&f, FAULT_LINK, 1, 1, ENOSPC);
    program_run(&p, &f.sys,
                PROGRAM_WORDS("-q", "record", "-o", "file.json", "--", "sh", "-c", script),
                STR(QUESTIONS));
    assert_int_equal(p.code, RECORD_OUTPUT_FAILED);
    assert_str(buf_str(&p.err),
               STR("mcpreel: cannot write 'file.json': No space left on device\n"
                   "  everything that was recorded is in 'file.json.cassette.journal'\n"));
    program_release(&p);
    assert_int_equal(access("file.json", F_OK), -1);
    assert_int_equal(content_of("file.json.cassette.journal").messages, 8);
}

/* The first line that is not taken makes the disk ill, and the next try hangs. */
static void a_hanging_disk_at_the_end_leaves_the_journal(void **state)
{
    struct fault_sys f;
    struct program p;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    fault_init(&f);
    fault_fail(&f, FAULT_WRITE, 5, 1, EIO);
    fault_gate(&f, FAULT_WRITE, 6, 1, gate[0]);
    program_run(&p, &f.sys,
                PROGRAM_WORDS("record", "-o", "file.json", "--", "sh", "-c", script),
                STR(QUESTIONS));
    close(gate[0]);
    close(gate[1]);
    assert_int_equal(p.code, 4);
    assert_str(buf_str(&p.out), STR(ANSWERS));
    assert_int_equal(
        count_of(&p, "recorded only 2 of 8 messages; 'file.json' was not created; "), 1);
    assert_int_equal(
        count_of(&p, "; everything that was recorded is in file.json.cassette.journal"), 1);
    assert_int_equal(count_of(&p, "mcpreel: "), 4); /* the two troubles among them */
    program_release(&p);
    assert_int_equal(content_of("file.json.cassette.journal").messages, 2); /* no response */
    assert_int_equal(access("file.json", F_OK), -1);
}

/* The same, until the user ends us by a second signal as any other program. */
static ssize_t write_until_stopped(const struct sys *sys, int fd, const void *from, size_t n)
{
    static int calls; /* one process, and one thread at a time */
    struct sigaction now;

    (void)sys;
    calls++;
    if (calls < 5)
        return sys_real.write(&sys_real, fd, from, n);
    if (calls == 5) {
        errno = EIO;
        return -1;
    }
    do {
        usleep(1000);
        sigaction(SIGTERM, NULL, &now);
    } while (now.sa_handler != SIG_DFL);
    for (;;)
        kill(getpid(), SIGTERM);
}

static void a_second_signal_ends_the_wait_for_the_disk(void **state)
{
    struct fault_sys f;
    struct program p;

    (void)state;
    fault_init(&f);
    f.sys.write = write_until_stopped;
    run(&p, &f.sys, "--strict");
    assert_int_equal(p.code, -SIGTERM);
    program_release(&p);
    assert_int_equal(content_of("file").messages, 2);
}

/* Two lines of mcpreel, besides any others. */
static void a_terminated_server_is_reported_with_the_result(void **state)
{
    struct program p;
    struct buf file;

    (void)state;
    buf_init(&file, 1 << 16);
    program_run(&p, NULL,
                PROGRAM_WORDS("record", "-o", "file", "--", "sh", "-c", "exec sleep 1000"),
                STR(REQUEST(1)));
    assert_int_equal(p.code, 128 + SIGTERM);
    assert_str(buf_str(&p.err),
               STR("mcpreel: recording to file\n"
                   "mcpreel: warning: recorded 1 message in file; the server did not exit "
                   "within 0.8 s after the client closed; mcpreel sent SIGTERM\n"));
    program_release(&p);
    temp_dir_get(&file, "file");
    assert_non_null(strstr(buf_z(&file),
                           "\"signal\":15,\"why\":\"the server did not exit within 0.8 s "
                           "after the client closed; mcpreel sent SIGTERM\""));
    buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TEMP_DIR(a_temporary_write_failure_loses_nothing),
        IN_TEMP_DIR(a_full_disk_loses_the_rest_and_is_reported),
        IN_TEMP_DIR(a_failed_sync_is_reported_once_and_fails_if_strict),
        IN_TEMP_DIR(a_killed_recording_has_every_message_that_the_client_received),
        IN_TEMP_DIR(a_line_that_stays_incomplete_is_tolerated),
        IN_TEMP_DIR(a_document_is_made_at_the_end),
        IN_TEMP_DIR(a_failed_document_leaves_its_journal),
        IN_TEMP_DIR(a_hanging_disk_at_the_end_leaves_the_journal),
        IN_TEMP_DIR(a_second_signal_ends_the_wait_for_the_disk),
        IN_TEMP_DIR(a_terminated_server_is_reported_with_the_result),
    };
    alarm(300); /* a session that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
