#include "core/data/database_rows.h"

#include "base/messages.h"
#include "core/data/database_watch.h"

#include <errmsg.h>
#include <pthread.h>
#include <unistd.h>

#define CONNECT_S 10

struct database_rows {
    MYSQL *connection;
    MYSQL_RES *result;
    struct database_watch watch;
    bool asked; /* the query was sent: there may be an answer that was not read */
    size_t columns;
    struct str *values;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    mysql_server_init(0, NULL, NULL);
}

/* Whether the database itself says what is wrong; err has it. */
static bool says(struct database_rows *r, struct err *err)
{
    if (!database_watch_ok(&r->watch, err))
        return false;
    if (mysql_errno(r->connection) == CR_PLUGIN_NOT_ALLOWED ||
        mysql_errno(r->connection) == CR_AUTH_PLUGIN_ERR)
        return err_message(err, ERR_UPSTREAM, NULL, MESSAGE_DATABASE_PLUGIN);
    err_set(err, ERR_UPSTREAM, NULL, "%s", mysql_error(r->connection));
    return true;
}

#define failed(r, err, ...) (says(r, err) && err_because((err), ERR_UPSTREAM, NULL, (err), __VA_ARGS__))

/* The server at the other end is not trusted: it may not ask for files of this machine, nor send without end.
 */
static void set_options(MYSQL *c)
{
    unsigned connect = CONNECT_S, silence = DATABASE_SILENCE_S, protocol = MYSQL_PROTOCOL_TCP, no = 0;
    unsigned long packet = DATABASE_ROW_MAX;
    mysql_options(c, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
    mysql_options(c, MYSQL_OPT_READ_TIMEOUT, &silence);
    mysql_options(c, MYSQL_OPT_WRITE_TIMEOUT, &silence);
    mysql_options(c, MYSQL_OPT_PROTOCOL, &protocol);
    mysql_options(c, MYSQL_OPT_LOCAL_INFILE, &no);
    mysql_options(c, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet);
    mysql_options(c, MYSQL_SET_CHARSET_NAME, "utf8mb4");
}

/* libmariadb trusts any server when it is told no file. */
static const char *system_ca(void)
{
    static const char *const files[] = {"/etc/ssl/certs/ca-certificates.crt",
                                        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};
    for (size_t i = 0; i < countof(files); i++)
        if (access(files[i], R_OK) == 0)
            return files[i];
    return NULL;
}

static bool set_tls(MYSQL *c, const struct database_options *o, struct err *err)
{
    my_bool yes = 1;
    const char *ca = o->ca_file ? o->ca_file : system_ca();
    if (!o->tls) {
        /* Others hand the password itself to any server that asks, in the clear or for a key of that
         * server's. */
        mysql_optionsv(c, MARIADB_OPT_RESTRICTED_AUTH, "mysql_native_password,client_ed25519");
        return true;
    }
    if (!ca)
        return err_set(
            err, ERR_INVALID, "database",
            "database.ca: this machine has no certificate authorities of its own, so it is needed");
    mysql_options(c, MYSQL_OPT_SSL_ENFORCE, &yes);
    mysql_options(c, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    mysql_options(c, MYSQL_OPT_SSL_CA, ca);
    return true;
}

/* Nothing of the session writes, whatever the query is; and the server reads it as database_query.c did. */
static bool set_session(struct database_rows *r, struct err *err)
{
    static const char *const commands[] = {"SET NAMES utf8mb4", "SET SESSION sql_mode = ''",
                                           "SET SESSION TRANSACTION READ ONLY",
                                           "START TRANSACTION READ ONLY"};
    for (size_t i = 0; i < countof(commands); i++)
        if (mysql_query(r->connection, commands[i]) != 0 || !database_watch_ok(&r->watch, err))
            return failed(r, err, MESSAGE_DATABASE_NO_READ);
    return true;
}

static bool connect_to(struct database_rows *r, const struct database_options *o, struct err *err)
{
    r->connection = mysql_init(NULL);
    if (!r->connection)
        return err_set(err, ERR_UPSTREAM, NULL, "no memory for a connection to the database");
    r->watch = (struct database_watch){
        .connection = r->connection, .patient = o->tls, .go_on = o->go_on, .ctx = o->ctx};
    database_watch_begin(&r->watch);
    set_options(r->connection);
    if (!set_tls(r->connection, o, err))
        return false;
    unsigned port = o->port > 0 ? (unsigned)o->port : 3306;
    if (!mysql_real_connect(r->connection, o->host, o->user, o->password, o->database, port, NULL, 0))
        return failed(r, err, MESSAGE_DATABASE_FAR);
    return set_session(r, err);
}

static bool send_query(struct database_rows *r, struct str query, struct err *err)
{
    if (!database_watch_query(&r->watch, err))
        return false;
    r->asked = true;
    if (mysql_send_query(r->connection, query.p, query.n) != 0)
        return failed(r, err, MESSAGE_DATABASE_REFUSES);
    /* It may think for minutes before its first row. */
    if (!database_watch_wait(&r->watch, err))
        return false;
    if (mysql_read_query_result(r->connection) != 0)
        return failed(r, err, MESSAGE_DATABASE_REFUSES);
    r->result = mysql_use_result(r->connection);
    if (!database_watch_ok(&r->watch, err))
        return false;
    if (!r->result && mysql_errno(r->connection))
        return failed(r, err, MESSAGE_DATABASE_REFUSES);
    if (!r->result)
        return err_set(err, ERR_INVALID, "database", "database.query: it gives no rows; write a SELECT");
    r->columns = mysql_num_fields(r->result);
    r->values = base_zalloc((r->columns + 1) * sizeof *r->values);
    return true;
}

struct database_rows *database_rows_open(const struct database_options *o, struct str query, struct err *err)
{
    pthread_once(&once, init);
    mysql_thread_init();
    struct database_rows *r = base_zalloc(sizeof *r);
    if (connect_to(r, o, err) && send_query(r, query, err))
        return r;
    database_rows_close(r);
    return NULL;
}

void database_rows_close(struct database_rows *r)
{
    if (!r)
        return;
    /* Rows that were not read would be read to the end first: the connection is closed under them instead. */
    if (r->connection && r->asked)
        mariadb_cancel(r->connection);
    mysql_free_result(r->result);
    if (r->connection)
        mysql_close(r->connection);
    database_watch_end(&r->watch);
    free(r->values);
    free(r);
    mysql_thread_end();
}

size_t database_rows_columns(const struct database_rows *r)
{
    return r->columns;
}

const char *database_rows_name(const struct database_rows *r, size_t column)
{
    return mysql_fetch_field_direct(r->result, (unsigned)column)->name;
}

bool database_rows_next(struct database_rows *r, const struct str **ret, bool *done, struct err *err)
{
    if (!database_watch_wait(&r->watch, err))
        return false;
    MYSQL_ROW row = mysql_fetch_row(r->result);
    if (!database_watch_ok(&r->watch, err))
        return false;
    r->watch.ready -= r->watch.ready > 0;
    *done = !row;
    if (!row)
        return mysql_errno(r->connection) == 0 || failed(r, err, MESSAGE_DATABASE_BROKE_OFF);
    const unsigned long *lengths = mysql_fetch_lengths(r->result);
    for (size_t i = 0; i < r->columns; i++)
        r->values[i] = row[i] ? (struct str){row[i], lengths[i]} : STR_NULL;
    *ret = r->values;
    return true;
}
