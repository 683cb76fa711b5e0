#include "engine/other-era.h"

#include <stdio.h>

#include "mcp/meta.h"

/* Those that the server spoke; what is not known of an old recording is that alone. */
static void add_spoken(struct buf *to, const struct script *s)
{
    for (unsigned v = MCP_VERSION_LATEST; v > MCP_VERSION_UNKNOWN; v--) {
        struct str text = mcp_version_text((enum mcp_version)v);

        if (s->versions >> v & 1)
            buf_printf(to, "%s%.*s", to->len ? ", " : "", STR_ARG(text));
    }
    if (!to->len)
        buf_add(to, s->modern ? STR("2026-07-28") : STR("an older one"));
}

void other_era_tell(struct other_era *o, struct say *say, const struct script *script,
                    bool modern, struct str revision)
{
    struct buf spoken;

    if (o->told[modern])
        return;
    o->told[modern] = true;
    if (!revision.len)
        revision = modern ? STR("2026-07-28") : STR("an older revision");
    revision.len = revision.len < OTHER_ERA_TEXT ? revision.len : OTHER_ERA_TEXT - 1;
    buf_init(&spoken, 1 << 10);
    add_spoken(&spoken, script);
    if (modern)
        say_report(
            say, LOG_WARN,
            "a client speaks %.*s, the recorded server only %s: use a client that speaks "
            "that, too, or record a server that speaks %.*s",
            STR_ARG(revision), buf_z(&spoken), STR_ARG(revision));
    else /* the server may support both: in 2026-07-28 the client chooses */
        say_report(say, LOG_WARN,
                   "a client speaks %.*s, the recording is of %s, which the recorded client "
                   "chose: record again with a client that speaks %.*s, or replay to one that "
                   "speaks %s",
                   STR_ARG(revision), buf_z(&spoken), STR_ARG(revision), buf_z(&spoken));
    buf_release(&spoken);
}

void other_era_hear(struct other_era *o, struct say *say, const struct script *script,
                    const struct http_rules *rules, const struct http_call *c, bool refused,
                    struct arena *a)
{
    const struct mcp_message *m = c->message;
    struct str revision;
    bool greets;

    if ((!refused && !o->probed[0]) || !m || m->kind != MCP_REQUEST)
        return;
    greets = str_eq(m->method, STR("initialize"));
    if (!refused) {
        o->probed[0] = greets ? '\0' : o->probed[0];
        return;
    }
    if (greets && !rules->legacy)
        other_era_tell(o, say, script, false,
                       json_text(json_get(m->params, STR("protocolVersion")), a));
    if (rules->modern || !http_call_is_modern(c, a))
        return;
    revision = json_text(json_get(m->meta, MCP_META_VERSION), a);
    if (!str_eq(m->method, STR("server/discover")))
        other_era_tell(o, say, script, true, revision);
    else
        snprintf(o->probed, sizeof o->probed, "%.*s",
                 STR_ARG(revision.len ? revision : STR("2026-07-28")));
}

void other_era_end(struct other_era *o, struct say *say, const struct script *script)
{
    if (o->probed[0])
        other_era_tell(o, say, script, true, str_z(o->probed));
}
