#include "runtime/ca-file.h"

#include "base/buf.h"
#include "base/file.h"

enum { CA_FILE_MAX = 64 << 20, PATHS_MAX = 1 << 10 };

const char *const ca_file_usual[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Alpine */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, Red Hat */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* older ones */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine without its package */
    NULL,
};

static bool has_certificate(struct str text)
{
    return str_contains(text, STR("CERTIFICATE-----")); /* also X509 and TRUSTED */
}

/* Checked at the start, not when the first client connects. */
static bool check_file(const struct app *app, const char *source, const char *path,
                       struct err *e)
{
    struct buf text;
    bool ok;

    buf_init(&text, CA_FILE_MAX);
    ok = file_read_all(&text, app->sys, path, e);
    if (ok && !has_certificate(buf_str(&text))) {
        ok = err_set(e, ERR_USAGE, "'%s': there is no certificate in '%s'", source, path);
        err_hint(e, "give a PEM file of certificates (-----BEGIN CERTIFICATE-----)");
    }
    buf_release(&text);
    if (!ok)
        e->kind = ERR_USAGE;
    return ok;
}

static bool exists(const struct app *app, const char *path)
{
    struct err ignored = ERR_NONE;
    struct file f;

    if (!file_open(&f, app->sys, path, &ignored))
        return false;
    return file_close(&f, &ignored);
}

static bool report_none(struct err *e)
{
    struct buf paths;

    buf_init(&paths, PATHS_MAX);
    for (size_t i = 0; ca_file_usual[i]; i++)
        buf_printf(&paths, "%s'%s'", i ? ", " : "", ca_file_usual[i]);
    err_set(e, ERR_PEER,
            "no file of trusted certificates: SSL_CERT_FILE is not set, and none of these can "
            "be read: %.*s",
            STR_ARG(buf_str(&paths)));
    buf_release(&paths);
    return err_hint(e, "install the package ca-certificates, or use --cacert FILE");
}

bool ca_file_choose(const char **out, const struct app *app, const char *cacert, bool search,
                    struct err *e)
{
    *out = cacert ? cacert : app_env(app, "SSL_CERT_FILE");
    if (cacert)
        return check_file(app, "--cacert", cacert, e);
    if (*out)
        return check_file(app, "SSL_CERT_FILE", *out, e) ||
               err_hint(e, "the variable SSL_CERT_FILE names the file of trusted certificates");
    for (size_t i = 0; search && ca_file_usual[i]; i++) {
        *out = ca_file_usual[i];
        if (exists(app, *out))
            return true;
    }
    *out = NULL;
    return !search || report_none(e);
}
