#include "core/serve/event.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>

#define KEPT     1000 /* of each service */
#define SENTENCE 500

const char event_sql[] =
    "CREATE TABLE service_events (id {id}, service BIGINT NOT NULL, version BIGINT NOT NULL, job BIGINT NOT"
    " NULL, at BIGINT NOT NULL, event {text} NOT NULL, reason {text} NOT NULL, reason_zh {text} NOT NULL);\n"
    "CREATE INDEX service_events_service ON service_events (service, id);\n";

static bool drop_oldest(struct op *op, int64_t service, struct err *err)
{
    return conn_exec(op->conn,
                     "DELETE FROM service_events WHERE service = ? AND id <= (SELECT id FROM service_events"
                     " WHERE service = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
                     db_args(db_int(service), db_int(service), db_int(KEPT)), NULL, err);
}

/* A text that was cut within a character ends before it. */
static struct str whole(char *text)
{
    size_t n = strlen(text);
    while (n && !utf8_valid((struct str){text, n}))
        n--;
    return (struct str){text, n};
}

bool event_say(struct op *op, struct event_of of, const char *id, struct words reason, struct err *err)
{
    return conn_exec(op->conn,
                     "INSERT INTO service_events (service, version, job, at, event, reason, reason_zh) VALUES"
                     " (?, ?, ?, ?, ?, ?, ?)",
                     db_args(db_int(of.service), db_int(of.version), db_int(of.job), db_int(clock_now()),
                             db_textz(id), db_textz(reason.en), db_textz(reason.zh)),
                     NULL, err) &&
           drop_oldest(op, of.service, err);
}

static printf_like(2, 0) printf_like(3, 0) struct words
    sentences(struct arena *a, const char *en, const char *zh, va_list list)
{
    char english[SENTENCE], chinese[SENTENCE];
    va_list again;
    va_copy(again, list);
    vsnprintf(english, sizeof english, en, list);
    vsnprintf(chinese, sizeof chinese, zh, again);
    va_end(again);
    return (struct words){arena_strz(a, whole(english)), arena_strz(a, whole(chinese))};
}

bool event_add(struct op *op, struct event_of of, struct err *err, const char *id, const char *en,
               const char *zh, ...)
{
    va_list list;
    va_start(list, zh);
    struct words reason = sentences(op->arena, en, zh, list);
    va_end(list);
    return event_say(op, of, id, reason, err);
}

struct words event_words(struct arena *a, unused_ok const char *id, const char *en, const char *zh, ...)
{
    va_list list;
    va_start(list, zh);
    struct words reason = sentences(a, en, zh, list);
    va_end(list);
    return reason;
}

bool event_write(struct core *core, int64_t service, struct arena *a, struct json_out *out, struct err *err)
{
    struct db_rows rows;
    char at[CLOCK_TEXT_MAX];
    if (!db_query(core->db, a,
                  "SELECT e.at, e.event, v.name, e.job, e.reason, e.reason_zh FROM service_events e LEFT JOIN"
                  " service_versions v ON v.id = e.version WHERE e.service = ? ORDER BY e.id DESC LIMIT 500",
                  db_args(db_int(service)), &rows, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        json_object(out);
        json_kz(out, "at", clock_format(v[0].i, at));
        json_kstr(out, "event", v[1].s);
        json_kstr(out, "version", v[2].type == DB_TEXT ? v[2].s : STR_NULL);
        json_key(out, "job");
        if (v[3].i)
            json_int(out, v[3].i);
        else
            json_null(out);
        json_kstr(out, "reason", v[4].s);
        json_kstr(out, "reason_zh", v[5].s);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}

bool event_drop(struct op *op, int64_t service, struct err *err)
{
    return conn_exec(op->conn, "DELETE FROM service_events WHERE service = ?", db_args(db_int(service)), NULL,
                     err);
}
