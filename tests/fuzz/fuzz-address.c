#include <arpa/inet.h>

#include "base/arena.h"
#include "wire/listen.h"
#include "wire/media.h"
#include "wire/place.h"
#include "wire/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some systems take '0x' for 0 and some do not; there nobody can be right. */
static bool is_disputed(const char *text)
{
    for (const char *at = strpbrk(text, "xX"); at; at = strpbrk(at + 1, "xX")) {
        if (at[1] == '.' || !at[1])
            return true;
    }
    return false;
}

/* An address that the system reaches by this text has to be the one that we think of. */
static void must_agree_with_the_system(const char *text)
{
    struct ip ip = ip_parse(str_z(text));
    struct in6_addr six;
    struct in_addr four;

    /* The C library stops at a blank and passes over what follows. */
    if (!strpbrk(text, " \t\n\v\f\r") && !is_disputed(text)) {
        bool theirs = inet_aton(text, &four) != 0;

        BUG_IF(theirs != (ip.kind == IP_V4));
        BUG_IF(theirs && memcmp(ip.at + 12, &four, 4));
        BUG_IF(ip.kind == IP_V4 && ip.usual != (inet_pton(AF_INET, text, &four) == 1));
    }
    BUG_IF((inet_pton(AF_INET6, text, &six) == 1) != (ip.kind == IP_V6));
    BUG_IF(ip.kind == IP_V6 && memcmp(ip.at, &six, 16));
    BUG_IF(ip_is_loopback(&ip) && ip_is_any(&ip));
}

static bool within(struct str part, struct str text)
{
    return !part.at || (part.at >= text.at && part.at + part.len <= text.at + text.len);
}

static void must_be_of(const struct url_authority *a, struct str text)
{
    BUG_IF(!a->host.len || !within(a->host, text) || !within(a->userinfo, text));
    BUG_IF(a->port < -1 || a->port > 65535);
    for (size_t i = 0; i < a->host.len; i++)
        BUG_IF(strchr("/?#@[]\\ %", a->host.at[i]) != NULL);
}

static void take_url(struct str text)
{
    struct err e = ERR_NONE;
    struct url u;

    if (!url_parse(&u, text, &e))
        return;
    must_be_of(&u.authority, text);
    BUG_IF(!within(u.path, text) || !within(u.query, text) || !within(u.fragment, text));
    BUG_IF(u.path.len && u.path.at[0] != '/');
    BUG_IF(url_port(&u) < 0);
    BUG_IF(!url_same_host(&u.authority, &u.authority));
}

/* What is meant is a path of the same server, unless another one is named. */
static void take_reference(struct str text, struct arena *a)
{
    struct err e = ERR_NONE;
    struct url base, meant, again;
    bool named;

    BUG_IF(!url_parse(&base, STR("http://host:1/a/b?c"), &e));
    if (!reference_resolve(&meant, &named, text, &base, a, &e))
        return;
    BUG_IF(!named && !reference_same_origin(&meant, &base));
    BUG_IF(!meant.path.len || meant.path.at[0] != '/' || meant.fragment.at);
    BUG_IF(memmem(meant.path.at, meant.path.len, "/../", 4) != NULL);
    if (str_starts(meant.path, STR("//")))
        return; /* by itself it would name a host */
    BUG_IF(!reference_resolve(&again, &named, meant.path, &base, a, &e) || named);
    BUG_IF(!str_eq(again.path, meant.path));
}

static void take_listen(struct str text)
{
    struct err e = ERR_NONE;
    struct listen l;

    if (!listen_parse(&l, text, &e))
        return;
    BUG_IF(l.port < 0 || l.port > 65535 || !within(l.host, text));
    BUG_IF(ip_is_any(&l.ip) && l.scope != LISTEN_WILDCARD);
    BUG_IF(l.scope == LISTEN_LOOPBACK && l.ip.kind != IP_NONE && !ip_is_loopback(&l.ip));
}

/* Of what is not written as this machine's own nothing may be let in. */
static void take_place(struct str text)
{
    struct fields f = { .at = NULL };
    struct url_authority self, a;
    enum place host, origin;

    BUG_IF(!url_authority(&self, STR("127.0.0.1:8080")));
    fields_add(&f, STR("Origin"), text);
    origin = place_of_origin(&f, &self);
    BUG_IF(origin == PLACE_NONE);
    if (url_authority(&a, text)) {
        host = place_of_host(&a, &self);
        BUG_IF(host == PLACE_NONE || host == PLACE_NULL);
        BUG_IF(host != PLACE_OTHER && !url_is_loopback(&a));
        BUG_IF(host != PLACE_OTHER && origin != PLACE_OTHER);
    }
    fields_release(&f);
}

static void take_media(struct str text)
{
    struct fields f = { .at = NULL };
    struct media_accept a;

    fields_add(&f, STR("Content-Type"), text);
    fields_add(&f, STR("Accept"), text);
    a = media_accept(&f);
    for (enum media m = 0; m < MEDIA_COUNT; m++)
        BUG_IF(a.of[m].q > 1000 || (a.of[m].named && !a.of[m].q));
    BUG_IF(media_of_fields(&f) != media_of(text));
    BUG_IF(media_of(text) == MEDIA_NONE);
    fields_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { .blocks = NULL };
    struct str text = str_n((const char *)data, size);
    struct url_authority a;

    if (!memchr(size ? text.at : "", '\0', size))
        must_agree_with_the_system(arena_z(&arena, text));
    if (url_authority(&a, text))
        must_be_of(&a, text);
    take_url(text);
    take_reference(text, &arena);
    take_listen(text);
    take_place(text);
    take_media(text);
    arena_release(&arena);
    return 0;
}
