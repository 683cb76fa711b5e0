/* cmd/cmd-record.c - stand between a client and its server and write down what passes. */
#include "base/words.h"
#include "cmd/commands.h"
#include "cmd/pick-format.h"
#include "cmd/record-http.h"
#include "cmd/record-session.h"
#include "loop/dumps.h"
#include "trace/limits.h"

struct record_args {
    const char *output, *name, *upstream, *url, *cacert;
    struct option_list headers, header_env;
    const struct format *format;
    struct option_list tags;
    uint64_t rotate, max_message;
    int64_t flush_us;
    bool force, plain, strict;
    struct redaction_args redaction;
    struct listening_args listening;
};

static const struct option record_options[] = {
    { .key = 'o',
      .name = "output",
      .arg = "FILE",
      .type = OPTION_PATH,
      .seed = true,
      .at = offsetof(struct record_args, output),
      .help = "write the recording to FILE; in a folder, to a new file there" },
    { .name = "force",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, force),
      .help = "replace FILE if it exists" },
    { .name = "format",
      .arg = "FORMAT",
      .type = OPTION_CUSTOM,
      .parse = pick_format_parse,
      .at = offsetof(struct record_args, format),
      .help = "write FORMAT, whatever the name of FILE says" },
    { .name = "name",
      .also = { "label" },
      .arg = "NAME",
      .type = OPTION_STRING,
      .seed = true,
      .at = offsetof(struct record_args, name),
      .help = "a name for the recording, kept in its header" },
    { .name = "tags",
      .arg = "TAGS",
      .type = OPTION_LIST,
      .split = true,
      .seed = true,
      .at = offsetof(struct record_args, tags),
      .help = "comma-separated tags, kept in its header" },
    { .name = "upstream",
      .arg = "COMMAND",
      .type = OPTION_STRING,
      .seed = true,
      .at = offsetof(struct record_args, upstream),
      .help = "the server's command line as one word, in place of '-- COMMAND'" },
    { .name = "rotate",
      .arg = "SIZE",
      .type = OPTION_SIZE,
      .preset = "0",
      .at = offsetof(struct record_args, rotate),
      .help = "go on in another file when one has this size; 0: never" },
    { .name = "flush-interval",
      .arg = "TIME",
      .type = OPTION_DURATION,
      .preset = "1s",
      .seed = true,
      .at = offsetof(struct record_args, flush_us),
      .help = "sync to the disk this often, and after 100 lines" },
    { .name = "max-message",
      .arg = "SIZE",
      .type = OPTION_SIZE,
      .preset = "64MiB",
      .at = offsetof(struct record_args, max_message),
      .help = "longer messages pass, but are not kept" },
    { .name = "plain",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, plain),
      .help = "only headers, messages and footers, as ThoughtJack has them" },
    { .name = "strict",
      .type = OPTION_FLAG,
      .at = offsetof(struct record_args, strict),
      .help = "end with 125 if anything is missing in the recording" },
    { .name = "url",
      .also = { "upstream-http" },
      .arg = "URL",
      .type = OPTION_STRING,
      .seed = true,
      .group = LISTENING_GROUP,
      .at = offsetof(struct record_args, url),
      .help = "the server is there, in place of '-- COMMAND'; needs --listen" },
    LISTENING_OPTIONS(struct record_args, listening),
    { .name = "header",
      .arg = "'NAME: VALUE'",
      .type = OPTION_LIST,
      .group = LISTENING_GROUP,
      .at = offsetof(struct record_args, headers),
      .help = "send this header to the server, in place of the client's own" },
    { .name = "header-env",
      .arg = "NAME=VARIABLE",
      .type = OPTION_LIST,
      .group = LISTENING_GROUP,
      .at = offsetof(struct record_args, header_env),
      .help = "the same with the value of a variable, which no list of processes shows" },
    { .name = "cacert",
      .arg = "FILE",
      .type = OPTION_PATH,
      .group = LISTENING_GROUP,
      .at = offsetof(struct record_args, cacert),
      .help = "trust the certificates in FILE instead of the system's" },
    REDACTION_OPTIONS(struct record_args, redaction),
    { 0 },
};

/* Where clients come from and where the server is must fit. */
static bool check_sides(const struct record_args *args, const struct operands *in, bool listens,
                        struct err *e)
{
    if (args->url && (in->server || args->upstream))
        return err_set(e, ERR_USAGE, "two servers to record: '--url' and a command");
    if (args->url && !listens) {
        err_set(e, ERR_USAGE, "'--url' needs an address where clients come to");
        return err_hint(e, "add --listen 127.0.0.1:8080, and give clients that address");
    }
    if (!args->url && listens)
        return err_set(e, ERR_USAGE, "'--listen' goes with '--url' only");
    if (!args->url && (args->headers.count || args->header_env.count || args->cacert))
        return err_set(e, ERR_USAGE,
                       "'--header', '--header-env' and '--cacert' go with '--url' only");
    return true;
}

static bool add_header(struct fields *to, struct str name, struct str value, const char *option,
                       struct err *e)
{
    if (!fields_is_token(name) || !fields_is_value(value))
        return err_set(e, ERR_USAGE, "'%s' needs a name and a value that can be sent", option);
    fields_add(to, name, value);
    return true;
}

/* All of them are borrowed from the command line and the environment. */
static bool read_headers(const struct app *app, const struct record_args *args,
                         struct fields *to, struct err *e)
{
    for (size_t i = 0; i < args->headers.count; i++) {
        struct str value = str_z(args->headers.at[i]), name = str_cut(&value, ':');

        if (!add_header(to, name, str_trim(value), "--header", e))
            return err_hint(e, "write it as --header 'Name: value'");
    }
    for (size_t i = 0; i < args->header_env.count; i++) {
        struct str variable = str_z(args->header_env.at[i]), name = str_cut(&variable, '=');
        const char *value = app_env(app, variable.len ? variable.at : "");

        if (!value) {
            err_set(e, ERR_USAGE, "'--header-env %s' names a variable that is not set",
                    args->header_env.at[i]);
            return err_hint(e, "write it as --header-env Authorization=MY_VARIABLE");
        }
        if (!add_header(to, name, str_z(value), "--header-env", e))
            return false;
    }
    return true;
}

/* The server's command: after "--", or in one string. */
static bool find_server(struct record_settings *how, const struct record_args *args,
                        const struct operands *in, struct arena *a, struct err *e)
{
    char **words;

    if (in->server && args->upstream)
        return err_set(e, ERR_USAGE,
                       "two servers to record: '--upstream' and what follows '--'");
    if (in->server) {
        how->server = in->server;
        how->server_count = in->server_count;
        return true;
    }
    if (args->upstream) {
        if (!words_split(&words, &how->server_count, str_z(args->upstream), a, e))
            return err_wrap(e, "cannot read the command of '--upstream'");
        how->server = words;
    }
    if (how->server_count)
        return true;
    if (args->url)
        return true;
    err_set(e, ERR_USAGE, "no server to record");
    return err_hint(e, "say how to start it: mcpreel record -o session.jsonl -- COMMAND ARGS…");
}

static bool check_sizes(const struct record_args *args, struct err *e)
{
    if (args->max_message == 0 || args->max_message > LIMIT_MESSAGE)
        return err_set(e, ERR_USAGE, "'--max-message' must be from 1 byte to 64 MiB");
    return true;
}

/* A file may be named after the recording or its server. */
static void name_without_secrets(struct record_wish *wish, struct redaction *r, struct arena *a)
{
    size_t count = 0;
    char **words;

    if (wish->name)
        wish->name = redaction_word(r, wish->name, a);
    while (wish->server[count])
        count++;
    words = arena_alloc(a, (count + 1) * sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = redaction_word(r, wish->server[i], a);
    wish->server = words;
}

/* From here on nothing is said or written but through the redaction. */
static int record_redacted(const struct app *app, const struct record_args *args,
                           struct record_settings *how, const struct record_http_settings *http,
                           struct err *e)
{
    char *at_url[] = { (char *)(uintptr_t)how->url, NULL };
    struct record_wish wish = { .output = args->output,
                                .name = args->name,
                                .format = args->format,
                                .server = how->server ? how->server : at_url,
                                .force = args->force,
                                .rotate = args->rotate > 0 };
    struct record_place place = { 0 };
    struct redaction redaction;
    struct app redacted = *app;
    struct arena a = { 0 };
    int code;

    if (!redaction_init(&redaction, app, &args->redaction, wish.server, e))
        return app_exit_code(e);
    dumps_off();
    redacted.log = &redaction.log;
    redaction.redactor.live = true;
    how->redaction = &redaction;
    name_without_secrets(&wish, &redaction, &a);
    if (record_place_find(&place, &redacted, &wish, e)) {
        redaction_for(&redaction, place.format);
        code = how->server ? record_session_run(&redacted, &place, how, e)
                           : record_http_run(&redacted, &place, how, http, e);
    } else {
        code = app_exit_code(e);
    }
    redaction_err(&redaction, e);
    record_place_release(&place);
    redaction_release(&redaction);
    arena_release(&a);
    return code;
}

static int record_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct record_args *args = options;
    struct record_settings how = {
        .name = args->name,
        .tags = args->tags,
        .rotate = args->rotate,
        .max_message = (size_t)args->max_message,
        .url = args->url,
        .flush_us = args->flush_us,
        .plain = args->plain,
        .strict = args->strict,
    };
    struct record_http_settings http = { .listening = &args->listening,
                                         .cacert = args->cacert };
    struct arena a = { 0 };
    bool listens;
    int code = EXIT_USAGE;

    if (check_sizes(args, e) && listening_choose(&args->listening, &http.at, &listens, e) &&
        check_sides(args, in, listens, e) && read_headers(app, args, &http.headers, e) &&
        find_server(&how, args, in, &a, e)) {
        struct app_unheld unheld;

        code = record_redacted(app_unheld_begin(&unheld, app), args, &how, &http, e);
        app_unheld_end(&unheld);
    }
    fields_release(&http.headers);
    arena_release(&a);
    return code;
}

static const char *const record_usage[] = { "[options] -- COMMAND [ARGS…]",
                                            "[options] --upstream COMMAND", NULL };

static const struct command_example record_examples[] = {
    { "mcpreel record -o traces/ -- npx -y some-mcp-server --flag",
      "put this where your client's configuration starts the server: a new file each time" },
    { "mcpreel record -o a.jsonl --name nightly --tags ci -- python server.py",
      "label the recording" },
    { "mcpreel record --rotate 100MB -- python server.py",
      "in your own folder for recordings, in parts" },
    { 0 },
};

const struct command cmd_record = {
    .name = "record",
    .summary = "record the traffic between a client and a server",
    .usage = record_usage,
    .about = "Starts the server and stands between it and the client on standard input and "
             "output. Every byte passes unchanged in both directions; a copy of every message, "
             "of what is no message and of the server's standard error goes to FILE. A message "
             "is in the file before its receiver has all of it.\n\n"
             "Without FILE the recording is a new file in $MCPREEL_DIR, or else in "
             "$XDG_STATE_HOME/mcpreel/traces or ~/.local/state/mcpreel/traces.\n\n"
             "Trouble with the disk never stops the session: what cannot be written waits in "
             "memory (up to 64 MB), and what is lost after all stands in the recording as a "
             "gap.\n\n"
             "Ends when the server ends, with the server's own exit code (128 and the signal's "
             "number if a signal ended it). A server that cannot be found is 127, one that "
             "cannot be executed 126.",
    .examples = record_examples,
    .options = record_options,
    .args_size = sizeof(struct record_args),
    .server = true,
    .run = record_run,
};
