#include "cmd/help-man.h"

#include "cmd/help-text.h"
#include "fake-cli.h"
#include "test.h"

static const struct app app = { .commands = fake_cli_commands };

static void check_parts(struct buf *page, const char *const *parts)
{
    const char *at = buf_z(page);

    for (; *parts; parts++) {
        const char *hit = strstr(at, *parts);
        if (!hit)
            fail_msg("'%s' is not there, or not in this order, in\n%s", *parts, buf_z(page));
        at = hit;
    }
}

static void a_page_of_a_command_has_all_sections_in_order(void **state)
{
    static const char *const parts[] = {
        ".TH MCPREEL-RECORD 1 " MCPREEL_DATE " \"mcpreel " MCPREEL_VERSION "\" ",
        "\n.SH NAME\nmcpreel\\-record \\- tape what\\(aqs said [all: of it]\n",
        "\n.SH SYNOPSIS\n.nf\n\\fBmcpreel record\\fR [options] [FILE...]\n"
        "\\fBmcpreel record\\fR [options] \\-\\- COMMAND\n.fi\n",
        "\n.SH DESCRIPTION\nTapes what is said.",
        "\n.PP\n.nf\n  a table\n  stays   as it is\n.fi\n",
        "\n.SH OPTIONS\n.TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"
        "write the tape to FILE. Also spelled \\-\\-out, \\-\\-cassette."
        " Variable: MCPREEL_OUTPUT.\n",
        "\n.SS Safety\n.TP\n\\fB\\-f\\fR, \\fB\\-\\-force\\fR\n",
        "\\fB\\-\\-[no\\-]redact\\fR\nhide secrets (on by default).",
        "\n.SS Replay\n",
        "how to match (sequential, by\\-request).",
        "\n.SS Global options\n",
        "\n.SH EXAMPLES\nto tape a shell:\n.PP\n.nf\n\\fBmcpreel record \\-o a \\-\\- sh\\fR\n",
        "\n.SH EXIT STATUS\n.nf\n",
        "\n.SH SEE ALSO\n\\fBmcpreel\\fR(1),\n\\fBmcpreel\\-plain\\fR(1),\n",
        NULL,
    };
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_man_command(&b, &app, &fake_cli_record);
    check_parts(&b, parts);
    assert_null(strstr(buf_z(&b), "odd"));
    assert_null(strstr(buf_z(&b), "recorder"));
    assert_null(strstr(buf_z(&b), "mcpreel\\-record\\fR(1)"));
    buf_release(&b);
}

static void the_main_page_has_all_commands_and_topics(void **state)
{
    static const char *const parts[] = {
        ".TH MCPREEL 1 ",
        "\n.SH COMMANDS\n.TP\n\\fBmcpreel record\\fR\ntape",
        "\n.SH OPTIONS\n",
        "\n.SH ENVIRONMENT\n",
        "\n.SH EXIT STATUS\n",
        "\n.SH MATCHING\n",
        "\n.SH RECORDING\n",
        "\n.SH SEE ALSO\n\\fBmcpreel\\-record\\fR(1),\n",
        NULL,
    };
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_man_program(&b, &app);
    check_parts(&b, parts);
    buf_release(&b);
}

static int no_run(const struct app *a, const void *args, const struct operands *in,
                  struct err *e)
{
    (void)a, (void)args, (void)in, (void)e;
    return 0;
}

/* A dot or a quote at the start of a line would be a request to troff. */
static void text_is_escaped_for_roff(void **state)
{
    const struct command wild = {
        .name = "wild",
        .summary = "back\\slash",
        .usage = (const char *const[]){ "", NULL },
        .about = ".so /etc/passwd\n\n'quoted' … text\n\n  .nf in a table\n  'x",
        .run = no_run,
    };
    static const char *const parts[] = {
        "mcpreel\\-wild \\- back\\eslash\n",
        ".SH DESCRIPTION\n\\&.so /etc/passwd\n",
        ".PP\n\\&\\(aqquoted\\(aq \\[u2026] text\n",
        ".nf\n  .nf in a table\n  \\(aqx\n.fi\n",
        NULL,
    };
    struct buf b;
    (void)state;

    buf_init(&b, HELP_TEXT_MAX);
    help_man_command(&b, &app, &wild);
    check_parts(&b, parts);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_a_command_has_all_sections_in_order),
        cmocka_unit_test(the_main_page_has_all_commands_and_topics),
        cmocka_unit_test(text_is_escaped_for_roff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
