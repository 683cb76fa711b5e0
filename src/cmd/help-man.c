#include "cmd/help-man.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/text-wrap.h"
#include "base/utf8.h"
#include "cmd/global-options.h"
#include "cmd/help-text.h"
#include "cmd/help-topics.h"

/* Adds text with the characters escaped that troff interprets; a hyphen becomes a minus that
 * can be pasted into a shell. */
static void add_text(struct buf *to, struct str text)
{
    bool line_start = !to->len || to->at[to->len - 1] == '\n';

    while (text.len) {
        uint32_t code = 0;
        size_t n = utf8_decode(text, &code);

        BUG_IF(!n);
        if (line_start && (code == '.' || code == '\''))
            buf_add(to, STR("\\&"));
        line_start = code == '\n';
        if (code == '\\')
            buf_add(to, STR("\\e"));
        else if (code == '-')
            buf_add(to, STR("\\-"));
        else if (code == '\'')
            buf_add(to, STR("\\(aq"));
        else if (code > 0x7F)
            buf_printf(to, "\\[u%04X]", code);
        else
            buf_add_ch(to, (char)code);
        text = str_skip(text, n);
    }
}

static void add_z(struct buf *to, const char *text)
{
    add_text(to, str_z(text));
}

static void add_prose(struct buf *to, struct str text)
{
    struct str p;

    for (bool first = true; text_wrap_next_paragraph(&text, &p); first = false) {
        bool verbatim = text_wrap_is_verbatim(p);

        if (!first)
            buf_add(to, STR(".PP\n"));
        buf_add(to, verbatim ? STR(".nf\n") : STR_NONE);
        add_text(to, p);
        buf_add(to, verbatim ? STR("\n.fi\n") : STR("\n"));
    }
}

static void add_upper(struct buf *to, const char *name)
{
    for (; *name; name++)
        buf_add_ch(to, ascii_upper(*name));
}

static void add_head(struct buf *to, const char *name, const char *summary)
{
    buf_add(to, STR(".TH "));
    add_upper(to, name);
    buf_add(to, STR(" 1 " MCPREEL_DATE " \"mcpreel " MCPREEL_VERSION "\" \"User Commands\"\n"
                    ".SH NAME\n"));
    add_z(to, name);
    buf_add(to, STR(" \\- "));
    add_z(to, summary);
    buf_add_ch(to, '\n');
}

static void add_option_name(struct buf *to, const struct option *o)
{
    if (o->key)
        buf_printf(to, "\\fB\\-%c\\fR, ", o->key);
    buf_add(to, STR("\\fB\\-\\-"));
    add_z(to, o->negatable ? "[no-]" : "");
    add_z(to, o->name);
    buf_add(to, STR("\\fR"));
    if (option_takes_value(o) || o->implied) {
        buf_add(to, o->implied ? STR("[=\\fI") : STR(" \\fI"));
        add_z(to, o->arg);
        buf_add(to, o->implied ? STR("\\fR]") : STR("\\fR"));
    }
}

static void add_option(struct buf *to, const struct option *o)
{
    char name[OPTION_ENV_NAME];
    struct buf about;

    buf_add(to, STR(".TP\n"));
    add_option_name(to, o);
    buf_add_ch(to, '\n');
    buf_init(&about, HELP_TEXT_MAX);
    buf_printf(&about, "%s", o->help);
    help_text_option_notes(&about, o);
    buf_add_ch(&about, '.');
    for (size_t i = 0; i < OPTION_ALIASES && o->aliases[i]; i++)
        buf_printf(&about, "%s--%s", i ? ", " : " Also spelled ", o->aliases[i]);
    if (o->aliases[0])
        buf_add_ch(&about, '.');
    if (!o->no_env)
        buf_printf(&about, " Variable: %s.", option_env_name(name, "MCPREEL_", o->name));
    add_text(to, buf_str(&about));
    buf_release(&about);
    buf_add_ch(to, '\n');
}

static void add_options(struct buf *to, const struct option *rows, const struct option *over)
{
    const char *group = NULL;

    for (const struct option *o = rows; o && o->name; o++) {
        if (!option_is_shown(o, over))
            continue;
        if (o->group && (!group || strcmp(group, o->group) != 0)) {
            buf_add(to, STR(".SS "));
            add_z(to, o->group);
            buf_add_ch(to, '\n');
        }
        group = o->group;
        add_option(to, o);
    }
}

static void add_synopsis(struct buf *to, const struct command *c)
{
    buf_add(to, STR(".SH SYNOPSIS\n.nf\n"));
    for (const char *const *u = c->usage; *u; u++) {
        buf_add(to, STR("\\fBmcpreel "));
        add_z(to, c->name);
        buf_add(to, STR("\\fR "));
        add_z(to, *u);
        buf_add_ch(to, '\n');
    }
    buf_add(to, STR(".fi\n"));
}

static void add_examples(struct buf *to, const struct command_example *examples)
{
    buf_add(to, STR(".SH EXAMPLES\n"));
    for (const struct command_example *x = examples; x->line; x++) {
        if (x != examples)
            buf_add(to, STR(".PP\n"));
        add_z(to, x->about);
        buf_add(to, STR(":\n.PP\n.nf\n\\fB"));
        add_z(to, x->line);
        buf_add(to, STR("\\fR\n.fi\n"));
    }
}

/* Adds links to the other pages; `self` is the current one, NULL: the program's. */
static void add_see_also(struct buf *to, const struct app *app, const struct command *self)
{
    bool first = !self;

    buf_add(to, STR(".SH SEE ALSO\n"));
    if (self)
        buf_add(to, STR("\\fBmcpreel\\fR(1)"));
    for (const struct command *const *c = app->commands; *c; c++) {
        if ((*c)->hidden || *c == self)
            continue;
        buf_add(to, first ? STR_NONE : STR(",\n"));
        buf_add(to, STR("\\fBmcpreel\\-"));
        add_z(to, (*c)->name);
        buf_add(to, STR("\\fR(1)"));
        first = false;
    }
    buf_add_ch(to, '\n');
}

void help_man_command(struct buf *to, const struct app *app, const struct command *c)
{
    char page[64];

    snprintf(page, sizeof page, "mcpreel-%s", c->name);
    add_head(to, page, c->summary);
    add_synopsis(to, c);
    buf_add(to, STR(".SH DESCRIPTION\n"));
    add_prose(to, str_z(c->about));
    buf_add(to, STR(".SH OPTIONS\n"));
    add_options(to, c->options, NULL);
    add_options(to, global_options_table, c->options);
    if (c->examples)
        add_examples(to, c->examples);
    buf_add(to, STR(".SH EXIT STATUS\n"));
    add_prose(to, str_z(help_topic_find("exit-codes")->text));
    add_see_also(to, app, c);
}

static void add_commands(struct buf *to, const struct app *app)
{
    buf_add(to, STR(".SH COMMANDS\n"));
    for (const struct command *const *c = app->commands; *c; c++) {
        if ((*c)->hidden)
            continue;
        buf_add(to, STR(".TP\n\\fBmcpreel "));
        add_z(to, (*c)->name);
        buf_add(to, STR("\\fR\n"));
        add_z(to, (*c)->summary);
        buf_add_ch(to, '\n');
    }
}

/* Adds the help topics as sections. */
static void add_topics(struct buf *to, const struct app *app)
{
    struct buf text;

    buf_init(&text, HELP_TEXT_MAX);
    for (const struct help_topic *t = help_topics; t->name; t++) {
        buf_add(to, STR(".SH "));
        buf_add(to, str_z(t->section));
        buf_add_ch(to, '\n');
        buf_clear(&text);
        help_topic_add_text(&text, t, app);
        add_prose(to, buf_str(&text));
    }
    buf_release(&text);
}

void help_man_program(struct buf *to, const struct app *app)
{
    add_head(to, "mcpreel", HELP_TEXT_SUMMARY);
    buf_add(to, STR(".SH SYNOPSIS\n.nf\n"
                    "\\fBmcpreel\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]"
                    " [\\-\\- \\fISERVER\\fR [\\fIARGS\\fR]]\n"
                    "\\fBmcpreel\\fR \\-\\- \\fISERVER\\fR [\\fIARGS\\fR]\n"
                    ".fi\n.SH DESCRIPTION\n"));
    add_prose(to, str_z(HELP_TEXT_DESCRIPTION));
    add_commands(to, app);
    buf_add(to, STR(".SH OPTIONS\n"));
    add_options(to, global_options_table, NULL);
    add_topics(to, app);
    add_see_also(to, app, NULL);
}
