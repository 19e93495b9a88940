/* TLS for server connections: the certificate, its reload when the files change, and the transport. */
#ifndef INGOT_NET_TLS_H
#define INGOT_NET_TLS_H

#include "base/err.h"
#include "net/conn.h"

struct tls;
struct tls *tls_new(const char *cert_file, const char *key_file, struct err *err);
void tls_free(struct tls *t);
/* A server side session. Looks (at most once per second) whether the files changed; when the new ones cannot
 * be read the old certificate stays in use and the log says so. From any loop. NULL: out of memory. */
SSL *tls_session(struct tls *t);

extern const struct conn_transport tls_transport;

#endif
