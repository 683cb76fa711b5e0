/* transport/curl-load.h - loads libcurl at run time, when a connection needs it.
 *
 * libcurl and the thirty libraries that it depends on take longer to load than the rest of the
 * program takes to start, and most commands need no network: so it is not linked. A static
 * program can load nothing: built with -Dcurl=link, this module has the functions of the linked
 * library. Functions have their names without 'curl_'. */
#ifndef TRANSPORT_CURL_LOAD_H
#define TRANSPORT_CURL_LOAD_H

#include <curl/curl.h>

#include "base/err.h"

struct curl_api {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_recv)(CURL *easy, void *to, size_t cap, size_t *n);
    CURLcode (*easy_send)(CURL *easy, const void *from, size_t len, size_t *n);
    const char *(*easy_strerror)(CURLcode code);
    void (*easy_cleanup)(CURL *easy);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_socket_action)(CURLM *multi, curl_socket_t fd, int what, int *running);
    CURLMcode (*multi_assign)(CURLM *multi, curl_socket_t fd, void *mine);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    CURLMcode (*multi_cleanup)(CURLM *multi);
};

/* The file name of the library. */
extern const char curl_load_name[];

/* Whether libcurl is linked. A linked one may come from another system and does not know where
 * the trusted certificates are. */
extern const bool curl_load_is_linked;

/* Loads and initializes libcurl; it is never unloaded. ERR_IO if there is none, or it is too
 * old. `name` does not matter if it is linked. */
bool curl_load(struct curl_api *c, const char *name, struct err *e) MUST_CHECK;

#endif
