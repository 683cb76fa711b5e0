/* transport/libcurl.h - libcurl, loaded when somebody needs it.
 *
 * With the thirty libraries that it brings along it takes longer to load than everything
 * else together takes to start; most of what this program does needs no network. So it is
 * not linked. Its functions are here under their own names, without 'curl_'. */
#ifndef TRANSPORT_LIBCURL_H
#define TRANSPORT_LIBCURL_H

#include <curl/curl.h>

#include "base/err.h"

struct libcurl {
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

/* The name under which the system's loader knows it. */
extern const char libcurl_name[];

/* Loads it, and makes it ready; it stays until the process ends. ERR_IO if there is none,
 * or one that is too old. */
bool libcurl_load(struct libcurl *c, const char *name, struct err *e) MUST_CHECK;

#endif
