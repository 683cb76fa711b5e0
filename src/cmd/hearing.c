#include "cmd/hearing.h"

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct hearing *h = (struct hearing *)self;

    (void)e;
    drive_tell(h->drive, (struct event){ .kind = h->as, .record = r });
    return true;
}

void hearing_init(struct hearing *h, struct drive *drive, enum event_kind as,
                  enum record_dir dir)
{
    *h = (struct hearing){ .records = { put_record }, .drive = drive, .as = as, .dir = dir };
    intake_init(&h->intake);
}

void hearing_release(struct hearing *h)
{
    intake_release(&h->intake);
}

void hearing_line(struct hearing *h, struct str line)
{
    struct err e = ERR_NONE;

    if (!intake_line(&h->intake, h->dir, line, &h->records, &e))
        BUG("an engine takes every record");
}

void hearing_too_long(const struct hearing *h, uint64_t bytes)
{
    const struct record r = { .kind = RECORD_RAW,
                              .bytes = { .from_to = h->dir, .why = STR("line too long") } };

    log_say(h->drive->app->log, LOG_WARN, "the %s sent a line of %llu bytes; it was ignored",
            h->dir == TO_CLIENT ? "server" : "client", (unsigned long long)bytes);
    if (h->dir == TO_SERVER)
        drive_tell(h->drive, (struct event){ .kind = h->as, .record = &r });
}
