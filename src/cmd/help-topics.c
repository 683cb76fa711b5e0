#include "cmd/help-topics.h"

#include "base/text-wrap.h"
#include "cmd/command.h"
#include "cmd/global-options.h"
#include "filter/filter-keys.h"

static bool has_row(const struct option *rows, const struct option *o)
{
    for (; rows && rows->name; rows++)
        if (strcmp(rows->name, o->name) == 0)
            return true;
    return false;
}

enum { VARIABLE_COLUMN = 28, VARIABLE_LINE = 4096 };

/* Adds the commands that have the option: "of record, convert". */
static void add_owners(struct buf *to, const struct app *app, const struct option *o)
{
    bool first = true;

    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden && has_row((*c)->options, o)) {
            buf_printf(to, "%s%s", first ? " of " : ", ", (*c)->name);
            first = false;
        }
}

/* Adds "also THOUGHTJACK_OUTPUT, THOUGHTJACK_RECORDING". */
static void add_seed_names(struct buf *to, const struct option *o)
{
    char name[OPTION_ENV_NAME];

    buf_printf(to, "; also %s", option_env_name(name, "THOUGHTJACK_", o->name));
    for (size_t i = 0; i < OPTION_ALIASES && o->aliases[i]; i++)
        buf_printf(to, ", %s", option_env_name(name, "THOUGHTJACK_", o->aliases[i]));
}

static void add_variable(struct buf *to, const struct app *app, const struct option *o,
                         bool global)
{
    char name[OPTION_ENV_NAME];
    size_t taken = 2 + strlen(option_env_name(name, "MCPREEL_", o->name));
    struct buf about;

    buf_printf(to, "  %s", name);
    if (taken + 2 > VARIABLE_COLUMN) {
        buf_add_ch(to, '\n');
        taken = 0;
    }
    buf_printf(to, "%*s", (int)(VARIABLE_COLUMN - taken), "");
    buf_init(&about, VARIABLE_LINE);
    buf_printf(&about, "--%s", o->name);
    if (!global)
        add_owners(&about, app, o);
    if (o->thoughtjack_env)
        add_seed_names(&about, o);
    if (o->env)
        buf_printf(&about, "%s%s", o->thoughtjack_env ? ", " : "; also ", o->env);
    text_wrap_fill(
        to, buf_str(&about),
        (struct text_wrap_shape){ TEXT_WRAP_TABLE_WIDTH, VARIABLE_COLUMN, VARIABLE_COLUMN });
    buf_release(&about);
}

/* Returns whether an earlier command has an option of that name. */
static bool has_earlier_row(const struct app *app, const struct command *const *until,
                            const struct option *o)
{
    for (const struct command *const *c = app->commands; c < until; c++)
        if (!(*c)->hidden && has_row((*c)->options, o))
            return true;
    return false;
}

static void list_variables(struct buf *to, const struct app *app)
{
    buf_add_ch(to, '\n');
    for (const struct command *const *c = app->commands; *c; c++)
        for (const struct option *o = (*c)->options; !(*c)->hidden && o && o->name; o++)
            if (!o->hidden && !o->no_env && !has_earlier_row(app, c, o))
                add_variable(to, app, o, false);
    for (const struct option *o = global_options_table; o->name; o++)
        if (!o->hidden && !o->no_env)
            add_variable(to, app, o, true);
}

enum { KEY_COLUMN = 14, WORD_COLUMN = 16 };

static void add_row(struct buf *to, size_t column, const char *name, struct str about)
{
    size_t taken = strlen(name) + 2;

    buf_printf(to, "  %s%*s", name, (int)(taken < column ? column - taken : 1), "");
    text_wrap_fill(to, about,
                   (struct text_wrap_shape){ TEXT_WRAP_TABLE_WIDTH, column, column });
}

static void add_filter_key(struct buf *to, const struct filter_key *k)
{
    struct buf about;

    buf_init(&about, VARIABLE_LINE);
    buf_printf(&about, "%s: %s", k->help, k->example);
    if (k->alias)
        buf_printf(&about, " (also %s)", k->alias);
    add_row(to, KEY_COLUMN, k->name, buf_str(&about));
    buf_release(&about);
}

static void list_filter_keys(struct buf *to, const struct app *app)
{
    (void)app;
    buf_add_ch(to, '\n');
    for (const struct filter_key *k = filter_keys; k->name; k++)
        add_filter_key(to, k);
    for (const struct filter_key *k = filter_keys; k->name; k++) {
        if (!k->words)
            continue;
        buf_printf(to, "\nThe words of '%s':\n\n", k->name);
        for (const struct filter_word *w = k->words; w->name; w++)
            if (w->help)
                add_row(to, WORD_COLUMN, w->name, str_z(w->help));
    }
}

const struct help_topic help_topics[] = {
    { .name = "environment",
      .section = "ENVIRONMENT",
      .summary = "variables that set options",
      .text =
          "Most options can also be set in the environment. The variable is MCPREEL_ and the "
          "option's name in capitals, with '_' for '-'. The command line has precedence, and "
          "an empty variable counts as not set. A flag takes 1, true, yes or on, and 0, "
          "false, no or off. An invalid value is an error that names the variable.\n\n"
          "Colour follows the usual variables: none with NO_COLOR set or TERM=dumb, always "
          "with FORCE_COLOR or CLICOLOR_FORCE, otherwise only on a terminal. --color has "
          "precedence over all of them.\n\n"
          "Recordings without a name are written to the folder MCPREEL_DIR; without it, "
          "below XDG_STATE_HOME or HOME.\n\n"
          "The variables:\n",
      .add_tables = list_variables },
    { .name = "exit-codes",
      .section = "EXIT STATUS",
      .summary = "meaning of the exit codes",
      .text = "    0  success, no findings\n"
              "    1  findings: a difference, an unmatched request\n"
              "    2  wrong command line or configuration; nothing was done\n"
              "    3  an input file cannot be used\n"
              "    4  the server cannot be started or reached, or is not an MCP server\n"
              "    5  input/output or internal error; output may be incomplete\n\n"
              "0 and 1 are results; with 2 and above there is no result.\n\n"
              "'record -- COMMAND' ends with the exit code of the server:\n\n"
              "      N  the server's own exit code\n"
              "  128+N  signal N ended the server\n"
              "    125  mcpreel itself failed after the server had started\n"
              "    126  the command exists but cannot be executed\n"
              "    127  the command was not found\n\n"
              "'record --url' and 'record --listen' have no single server. The client or a "
              "signal ends them, with 0; with 4 if a client on standard input never got a "
              "response, with 126 or 127 if the first server cannot be started, with 125 if "
              "--strict finds something missing.\n" },
    { .name = "filters",
      .section = "FILTERS",
      .summary = "the filter language of show, verify, diff and check",
      .text =
          "A filter consists of terms: a key with a value, or a text.\n\n"
          "  tool:read_* is:error     both: a blank means AND\n"
          "  is:error OR dur:>1s      either; | is the same\n"
          "  !is:ok   NOT is:ok       not; in one word with others also -is:ok\n"
          "  (a OR b) c               groups\n"
          "  code:-32602,-32601       any of them\n"
          "  dur:1s..5s  dur:>500ms   ranges and comparisons: > >= < <= !=\n"
          "  tool~^read  tool:/^read/ regular expressions (RE2)\n"
          "  arg.path                 such a value exists\n"
          "  \"two words\"              a text with blanks; * stands for itself\n\n"
          "A text without a key is searched in method, name, id and the complete message. "
          "Texts without a key and regular expressions are case-insensitive. Values after a "
          "key are case-sensitive, and * stands for any text. KEY!=x matches another value; "
          "NOT KEY:x also matches if there is no value. Durations need a unit (us, ms, s, m, "
          "h), sizes may have one (KB, MB, KiB, MiB).\n\n"
          "The keys:\n",
      .add_tables = list_filter_keys },
    { .name = "matching",
      .section = "MATCHING",
      .summary = "how replay matches requests",
      .text =
          "'replay' responds to each request as to a recorded one. --match "
          "selects that one:\n\n"
          "  by-request  an unused request with equal method and parameters, in\n"
          "              any order; without one it is a miss (default)\n"
          "  sequential  as by-request; without one the oldest unused request of\n"
          "              the same method and tool, prompt or resource, with a\n"
          "              warning\n"
          "  fuzzy       as by-request; without one the unused request with the\n"
          "              most similar parameters: dates, random ids and such may\n"
          "              differ\n"
          "  strict      as by-request, and _meta must be equal, too\n\n"
          "Missing parameters and arguments equal empty ones; _meta is compared with strict "
          "only. 'initialize', 'server/discover', 'ping' and notifications match always and "
          "use no recorded "
          "request. Responses have the id and the progress token of the live request.\n" },
    { .name = "recording",
      .section = "RECORDING",
      .summary = "contents of a recording",
      .text =
          "A recording is a text file with one JSON object per line, so grep, jq and diff "
          "work on it. It is written while the session runs; every complete line is valid, "
          "even after a crash.\n\n"
          "  header   first line: format version, time, the server's command\n"
          "  message  one JSON-RPC message in \"msg\", byte for byte as it was\n"
          "           sent; \"seq\" counts from 1, \"dir\" is c2s (client to\n"
          "           server) or s2c\n"
          "  http     over HTTP: a request, a response, the end of an exchange\n"
          "  sse      an event of a stream that is not a message\n"
          "  gap      messages that could not be recorded, and the reason\n"
          "  stderr   lines of the server's standard error\n"
          "  raw      bytes that are not a JSON-RPC message\n"
          "  proc     start and end of the server\n"
          "  footer   last line: totals, the exit code of the server\n\n"
          "Each line has \"us\", the microseconds since the start. Readers ignore line types "
          "and members that they do not know. A file without a footer or with an incomplete "
          "last line is used up to there, with a warning.\n\n"
          "The tools that were called, in order:\n\n"
          "  jq -r 'select(.msg.method == \"tools/call\") | .msg.params.name' FILE\n" },
    { 0 },
};

const struct help_topic *help_topic_find(const char *name)
{
    for (const struct help_topic *t = help_topics; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

void help_topic_add_text(struct buf *to, const struct help_topic *t, const struct app *app)
{
    buf_add(to, str_z(t->text));
    if (t->add_tables)
        t->add_tables(to, app);
}
