#include <arpa/inet.h>

#include "base/arena.h"
#include "wire/listen-address.h"
#include "wire/media-type.h"
#include "wire/origin.h"
#include "wire/url-resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some systems parse '0x' as 0 and some do not; both results are accepted. */
static bool is_disputed(const char *text)
{
    for (const char *at = strpbrk(text, "xX"); at; at = strpbrk(at + 1, "xX")) {
        if (at[1] == '.' || !at[1])
            return true;
    }
    return false;
}

/* An address that the system reaches by this text has to be the one that we think of. */
static void compare_with_system(const char *text)
{
    struct ip ip = ip_parse(str_z(text));
    struct in6_addr six;
    struct in_addr four;

    /* The C library stops at a blank and ignores the rest. */
    if (!strpbrk(text, " \t\n\v\f\r") && !is_disputed(text)) {
        bool theirs = inet_aton(text, &four) != 0;

        BUG_IF(theirs != (ip.kind == IP_V4));
        BUG_IF(theirs && memcmp(ip.bytes + 12, &four, 4));
        BUG_IF(ip.kind == IP_V4 && ip.canonical != (inet_pton(AF_INET, text, &four) == 1));
    }
    BUG_IF((inet_pton(AF_INET6, text, &six) == 1) != (ip.kind == IP_V6));
    BUG_IF(ip.kind == IP_V6 && memcmp(ip.bytes, &six, 16));
    BUG_IF(ip_is_loopback(&ip) && ip_is_any(&ip));
}

static bool within(struct str part, struct str text)
{
    return !part.at || (part.at >= text.at && part.at + part.len <= text.at + text.len);
}

static void check_part_of(const struct url_authority *a, struct str text)
{
    BUG_IF(!a->host.len || !within(a->host, text) || !within(a->userinfo, text));
    BUG_IF(a->port < -1 || a->port > 65535);
    for (size_t i = 0; i < a->host.len; i++)
        BUG_IF(strchr("/?#@[]\\ %", a->host.at[i]) != NULL);
}

static void check_url(struct str text)
{
    struct err e = ERR_NONE;
    struct url u;

    if (!url_parse(&u, text, &e))
        return;
    check_part_of(&u.authority, text);
    BUG_IF(!within(u.path, text) || !within(u.query, text) || !within(u.fragment, text));
    BUG_IF(u.path.len && u.path.at[0] != '/');
    BUG_IF(url_port(&u) < 0);
    BUG_IF(!url_same_host(&u.authority, &u.authority));
}

/* The result is a path of the same server, unless the URL names another one. */
static void check_reference(struct str text, struct arena *a)
{
    struct err e = ERR_NONE;
    struct url base, meant, again;
    bool named;

    BUG_IF(!url_parse(&base, STR("http://host:1/a/b?c"), &e));
    if (!url_resolve(&meant, &named, text, &base, a, &e))
        return;
    BUG_IF(!named && !url_same_origin(&meant, &base));
    BUG_IF(!meant.path.len || meant.path.at[0] != '/' || meant.fragment.at);
    BUG_IF(memmem(meant.path.at, meant.path.len, "/../", 4) != NULL);
    if (str_starts(meant.path, STR("//")))
        return; /* by itself it would name a host */
    BUG_IF(!url_resolve(&again, &named, meant.path, &base, a, &e) || named);
    BUG_IF(!str_eq(again.path, meant.path));
}

static void check_listen_address(struct str text)
{
    struct err e = ERR_NONE;
    struct listen_address l;

    if (!listen_address_parse(&l, text, &e))
        return;
    BUG_IF(l.port < 0 || l.port > 65535 || !within(l.host, text));
    BUG_IF(ip_is_any(&l.ip) && l.scope != LISTEN_WILDCARD);
    BUG_IF(l.scope == LISTEN_LOOPBACK && l.ip.kind != IP_NONE && !ip_is_loopback(&l.ip));
}

/* A text that is not a spelling of a loopback address must be rejected. */
static void check_origin(struct str text)
{
    struct headers f = { .at = NULL };
    struct url_authority self, a;
    enum origin_kind host, origin;

    BUG_IF(!url_parse_authority(&self, STR("127.0.0.1:8080")));
    headers_add(&f, STR("Origin"), text);
    origin = origin_classify(&f, &self);
    BUG_IF(origin == ORIGIN_NONE);
    if (url_parse_authority(&a, text)) {
        host = origin_classify_host(&a, &self);
        BUG_IF(host == ORIGIN_NONE || host == ORIGIN_NULL);
        BUG_IF(host != ORIGIN_OTHER && !url_is_loopback(&a));
        BUG_IF(host != ORIGIN_OTHER && origin != ORIGIN_OTHER);
    }
    headers_release(&f);
}

static void check_media_type(struct str text)
{
    struct headers f = { .at = NULL };
    struct media_type_accept a;

    headers_add(&f, STR("Content-Type"), text);
    headers_add(&f, STR("Accept"), text);
    a = media_type_accept(&f);
    for (enum media_type m = 0; m < MEDIA_COUNT; m++)
        BUG_IF(a.types[m].q > 1000 || (a.types[m].named && !a.types[m].q));
    BUG_IF(media_type_of_headers(&f) != media_type_parse(text));
    BUG_IF(media_type_parse(text) == MEDIA_NONE);
    headers_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = { .blocks = NULL };
    struct str text = str_n((const char *)data, size);
    struct url_authority a;

    if (!memchr(size ? text.at : "", '\0', size))
        compare_with_system(arena_z(&arena, text));
    if (url_parse_authority(&a, text))
        check_part_of(&a, text);
    check_url(text);
    check_reference(text, &arena);
    check_listen_address(text);
    check_origin(text);
    check_media_type(text);
    arena_release(&arena);
    return 0;
}
