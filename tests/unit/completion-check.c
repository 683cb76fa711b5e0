#include "completion-check.h"

#include "cmd/help-text.h"
#include "fake-cli.h"
#include "test.h"

void completion_check(void (*complete)(struct buf *to, const struct app *app),
                      const char *const *there, const char *const *absent)
{
    const struct app app = { .commands = fake_cli_commands };
    struct buf b;

    buf_init(&b, HELP_TEXT_MAX);
    complete(&b, &app);
    for (; *there; there++)
        if (!strstr(buf_z(&b), *there))
            fail_msg("'%s' is not in\n%s", *there, buf_z(&b));
    for (; *absent; absent++)
        if (strstr(buf_z(&b), *absent))
            fail_msg("'%s' is in\n%s", *absent, buf_z(&b));
    buf_release(&b);
}
