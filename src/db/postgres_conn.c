#include "db/postgres_conn.h"

#include "base/buf.h"
#include "db/stmt.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#define SILENCE_MS 10000 /* after which it is asked whether the server is there at all */

static void no_notice(void *arg, const PGresult *res)
{
    (void)arg;
    (void)res;
}

static void drop_statement(void *owner, void *handle)
{
    struct postgres *p = owner;
    char sql[64];
    snprintf(sql, sizeof sql, "DEALLOCATE %s", (char *)handle);
    /* In an aborted transaction it fails; the name is never used again. */
    if (p->pg && PQstatus(p->pg) == CONNECTION_OK && PQsendQuery(p->pg, sql))
        for (PGresult *res; (res = postgres_result(p)); PQclear(res))
            ;
    free(handle);
}

static bool check_open(struct postgres *p, struct err *err)
{
    if (PQstatus(p->pg) != CONNECTION_OK)
        return err_set(err, ERR_UNAVAILABLE, "database", "cannot reach the database: %s",
                       PQerrorMessage(p->pg));
    PQsetNoticeReceiver(p->pg, no_notice, NULL);
    const char *encoding = PQparameterStatus(p->pg, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return err_set(err, ERR_INVALID, "database", "the database's encoding must be UTF8, not %s",
                       encoding ? encoding : "unknown");
    return true;
}

/* Later ones win, so the URL may change the first. */
static const char *const keys[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                   "keepalives_count", "tcp_user_timeout", "application_name",
                                   "dbname",           "client_encoding",  NULL};
#define VALUES(url)                                                                                          \
    {                                                                                                        \
        "10", "20", "5", "4", "30000", "ingot", url, "UTF8", NULL                                            \
    }

#define COMMON_SETTINGS                                                                                      \
    "SET client_min_messages = warning; SET standard_conforming_strings = on; SET bytea_output = hex;"
/* What a dead machine held (the writers' lock, the hold on the database) is free within a minute. */
#define WRITER_SETTINGS                                                                                      \
    "SET default_transaction_isolation = 'read committed'; SET idle_in_transaction_session_timeout = '60s';" \
    "SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4;"           \
    "SET tcp_user_timeout = 40000"

bool postgres_open(const char *url, enum conn_use use, struct db_conn **ret, struct err *err)
{
    const char *const values[] = VALUES(url);
    static const char *const settings[] = {
        [CONN_WRITER] = COMMON_SETTINGS WRITER_SETTINGS,
        [CONN_READER] = COMMON_SETTINGS "SET default_transaction_isolation = 'repeatable read';"
                                        "SET default_transaction_read_only = on",
        [CONN_HOLD] = COMMON_SETTINGS WRITER_SETTINGS,
    };
    struct postgres *p = base_zalloc(sizeof *p);
    p->base.driver = &postgres_driver;
    p->url = base_strdup(url);
    p->pg = PQconnectdbParams(keys, values, 1);
    p->statements = stmt_cache_new(DB_STATEMENTS_MAX, drop_statement, p);
    if (!check_open(p, err) || !postgres_simple(p, settings[use], err)) {
        postgres_close(&p->base);
        return false;
    }
    *ret = &p->base;
    return true;
}

void postgres_close(struct db_conn *c)
{
    struct postgres *p = container_of(c, struct postgres, base);
    PQfinish(p->pg); /* and with it all statements */
    p->pg = NULL;
    stmt_cache_free(p->statements);
    free(p->url);
    free(p);
}

enum conn_state postgres_state(const struct db_conn *c)
{
    const struct postgres *p = container_of(c, struct postgres, base);
    if (PQstatus(p->pg) != CONNECTION_OK)
        return CONN_LOST;
    return PQtransactionStatus(p->pg) == PQTRANS_IDLE ? CONN_READY : CONN_IN_TX;
}

/* "Key (project, name)=(1, x) already exists." -> "name"; an expression -> the index's name. */
static void unique_field(const PGresult *res, char ret[64])
{
    const char *detail = PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL);
    const char *index = PQresultErrorField(res, PG_DIAG_CONSTRAINT_NAME);
    struct str s = str_of(detail);
    ptrdiff_t from = str_find(s, STR("(")), to = str_find(s, STR(")="));
    struct str columns =
        from >= 0 && to > from ? (struct str){s.p + from + 1, (size_t)(to - from - 1)} : STR_NULL;
    if (columns.n == 0 || memchr(columns.p, '(', columns.n)) {
        snprintf(ret, 64, "%s", index ? index : "value");
        return;
    }
    for (struct str rest = columns; rest.p; str_cut(columns, ',', &rest))
        columns = rest;
    columns = str_trim(columns);
    snprintf(ret, 64, STR_FMT, STR_ARG(columns));
}

/* Classes and codes of SQLSTATE that mean: not now. */
static bool is_unavailable(const char *state)
{
    static const char *const prefixes[] = {"08", "40",    "53",    "55P03", "57",
                                           "58", "25006", "25P03", "0A000", "26000"};
    for (size_t i = 0; i < countof(prefixes); i++)
        if (strncmp(state, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

bool postgres_fail(struct postgres *p, const PGresult *res, struct err *err)
{
    const char *state = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
    const char *text = res ? PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *column = res ? PQresultErrorField(res, PG_DIAG_COLUMN_NAME) : NULL;
    if (!text)
        text = PQerrorMessage(p->pg);
    if (!state || PQstatus(p->pg) != CONNECTION_OK)
        return err_set(err, ERR_UNAVAILABLE, NULL, "the database was lost: %s", text);
    p->base.retry = !strcmp(state, "40001") || !strcmp(state, "40P01") || !strcmp(state, "0A000") ||
                    !strcmp(state, "26000");
    if (strcmp(state, "23505") == 0) {
        char field[64];
        unique_field(res, field);
        return err_set(err, ERR_EXISTS, field, "the value of %s is taken", field);
    }
    if (strcmp(state, "23503") == 0 || strcmp(state, "23001") == 0)
        return err_set(err, ERR_CONFLICT, NULL, "it refers to something absent, or something refers to it");
    if (strcmp(state, "23502") == 0)
        return err_set(err, ERR_INVALID, column, "%s must have a value", column ? column : "a column");
    if (strcmp(state, "23514") == 0) {
        const char *rule = PQresultErrorField(res, PG_DIAG_CONSTRAINT_NAME);
        return err_set(err, ERR_INVALID, NULL, "a value breaks the rule %s", rule ? rule : "of its table");
    }
    if (is_unavailable(state))
        return err_set(err, ERR_UNAVAILABLE, NULL, "the database cannot do it now: %s (%s)", text, state);
    return err_set(err, ERR_INTERNAL, NULL, "the database failed: %s (%s)", text, state);
}

/* Statements may take long, and wait for those of other servers: that is no sign. */
static bool hangs(const struct postgres *p)
{
    const char *const values[] = VALUES(p->url);
    return PQpingParams(keys, values, 1) == PQPING_NO_RESPONSE;
}

PGresult *postgres_result(struct postgres *p)
{
    int fd = PQsocket(p->pg);
    while (fd >= 0 && PQisBusy(p->pg)) {
        struct pollfd f = {.fd = fd, .events = POLLIN};
        int n = poll(&f, 1, SILENCE_MS);
        if (n == 0 && hangs(p)) {
            shutdown(fd, SHUT_RDWR);
            break;
        }
        if (n > 0 && !PQconsumeInput(p->pg))
            break;
    }
    return PQgetResult(p->pg);
}

/* All results of what was sent; it has failed when one has. */
static bool finish(struct postgres *p, bool sent, int *ret_rows, struct err *err)
{
    *ret_rows = 0;
    bool ok = sent || postgres_fail(p, NULL, err);
    for (PGresult *res; sent && (res = postgres_result(p)); PQclear(res)) {
        ExecStatusType status = PQresultStatus(res);
        if (ok && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
            ok = postgres_fail(p, res, err);
        *ret_rows = PQntuples(res);
    }
    return ok;
}

bool postgres_simple_rows(struct postgres *p, const char *sql, int *ret_rows, struct err *err)
{
    return finish(p, PQsendQuery(p->pg, sql), ret_rows, err);
}

bool postgres_simple(struct postgres *p, const char *sql, struct err *err)
{
    int rows;
    return postgres_simple_rows(p, sql, &rows, err);
}

/* Copies a quoted text or comment that starts at *sql; false when none does. */
static bool copy_quoted(struct buf *b, const char **sql)
{
    const char *from = *sql, *end;
    if (*from == '\'' || *from == '"') {
        end = strchr(from + 1, *from); /* a doubled quote is simply two texts in a row */
        end = end ? end + 1 : NULL;
    } else if (strncmp(from, "--", 2) == 0) {
        end = strchr(from, '\n');
    } else if (strncmp(from, "/*", 2) == 0) {
        end = strstr(from, "*/");
        end = end ? end + 2 : NULL;
    } else {
        return false;
    }
    if (!end)
        end = from + strlen(from);
    buf_add(b, from, (size_t)(end - from));
    *sql = end;
    return true;
}

/* ? becomes $1, $2 ...; returns how many. */
static size_t number_arguments(const char *sql, struct buf *b)
{
    size_t n = 0;
    while (*sql) {
        if (copy_quoted(b, &sql))
            continue;
        if (*sql == '?')
            buf_printf(b, "$%zu", ++n);
        else
            buf_char(b, *sql);
        sql++;
    }
    return n;
}

/* A NULL has no type of its own: the server finds it out. */
static Oid type_of(const struct db_value *v)
{
    static const Oid oids[] = {
        [DB_NULL] = 0, [DB_INT] = PG_INT8, [DB_REAL] = PG_FLOAT8, [DB_TEXT] = PG_TEXT, [DB_BYTES] = PG_BYTEA};
    return oids[v->type];
}

/* The same text with other types is another statement. */
static void key_of(const struct run *r, struct buf *b)
{
    buf_z(b, r->sql);
    buf_char(b, 0);
    for (size_t i = 0; i < r->args.n; i++)
        buf_char(b, (char)('0' + r->args.v[i].type));
}

const char *postgres_prepare(struct postgres *p, const struct run *r, struct err *err)
{
    auto_buf struct buf key = {0}, sql = {0};
    key_of(r, &key);
    char *name = stmt_cache_get(p->statements, buf_view(&key));
    if (name)
        return name;
    size_t n = number_arguments(r->sql, &sql);
    if (n != r->args.n) {
        err_set(err, ERR_INTERNAL, NULL, "%zu arguments for the %zu of: %s", r->args.n, n, r->sql);
        return NULL;
    }
    auto_free Oid *oids = base_alloc((n + 1) * sizeof *oids);
    for (size_t i = 0; i < n; i++)
        oids[i] = type_of(&r->args.v[i]);
    char made[32];
    snprintf(made, sizeof made, "s%u", ++p->made);
    int rows;
    if (!finish(p, PQsendPrepare(p->pg, made, sql.p ? sql.p : "", (int)n, oids), &rows, err))
        return NULL;
    name = base_strdup(made);
    stmt_cache_add(p->statements, buf_view(&key), name);
    return name;
}

void postgres_forget(struct postgres *p, const struct run *r)
{
    auto_buf struct buf key = {0};
    key_of(r, &key);
    stmt_cache_drop(p->statements, buf_view(&key));
}
