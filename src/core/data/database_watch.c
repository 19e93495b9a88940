#include "core/data/database_watch.h"

#include "base/messages.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#define ASK_MS   200
#define PART_MAX 0xffffffU /* a packet of this length goes on in the next */

/* libmariadb has it, for plugins; its headers do not. */
int ma_pvio_register_callback(my_bool yes,
                              void (*seen)(int mode, MYSQL *c, const unsigned char *p, size_t n));

static _Thread_local struct database_watch *watching;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- ending it --- */

static int socket_of(const struct database_watch *w)
{
    return (int)mysql_get_socket(w->connection);
}

/* libmariadb finds the connection closed. Whatever it still has of it is small. */
static void end(struct database_watch *w)
{
    w->ended = true;
    int fd = socket_of(w);
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
}

static void bad(struct database_watch *w, const char *what)
{
    if (!w->ended)
        err_message(&w->err, ERR_UPSTREAM, NULL, MESSAGE_DATABASE_ODD, what);
    end(w);
}

bool database_watch_ok(const struct database_watch *w, struct err *err)
{
    if (w->ended)
        *err = w->err;
    return !w->ended;
}

/* --- rows: for each column a length and as many bytes, and nothing else --- */

static void begin_row(struct database_watch *w)
{
    w->column = w->length_n = 0;
    w->value_left = 0;
}

static void begin_value(struct database_watch *w, uint64_t n)
{
    if (n > DATABASE_ROW_MAX) {
        bad(w, "a value of more than 256 MiB");
        return;
    }
    w->value_left = n;
    w->column++;
}

static void take_length(struct database_watch *w, uint8_t byte)
{
    static const uint8_t bytes[] = {2, 3, 8}; /* behind 0xfc, 0xfd, 0xfe */
    if (w->length_n > 0) {
        w->length |= (uint64_t)byte << (8 * w->length_at++);
        if (--w->length_n == 0)
            begin_value(w, w->length);
    } else if (w->column == w->columns || byte == 0xff) {
        bad(w, "a row of other columns than it told");
    } else if (byte >= 0xfc) {
        w->length_n = bytes[byte - 0xfc];
        w->length = w->length_at = 0;
    } else {
        begin_value(w, byte == 0xfb ? 0 : byte); /* 0xfb: NULL */
    }
}

static void take_row(struct database_watch *w, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n && !w->ended;) {
        if (w->value_left > 0) {
            size_t part = n - i < w->value_left ? n - i : (size_t)w->value_left;
            w->value_left -= part;
            i += part;
        } else {
            take_length(w, p[i++]);
        }
    }
}

/* --- packets --- */

/* In the protocol a number of up to 8 bytes. */
static uint64_t number_at_start(const struct database_watch *w)
{
    static const uint8_t bytes[] = {2, 3, 8};
    uint64_t n = 0;
    if (w->start[0] < 0xfc)
        return w->start[0];
    for (unsigned i = 0; w->start[0] < 0xff && i < bytes[w->start[0] - 0xfc]; i++)
        n |= (uint64_t)w->start[1 + i] << (8 * i);
    return n;
}

static void end_answer(struct database_watch *w)
{
    w->columns = number_at_start(w);
    if (w->start[0] == 0xff || w->start[0] == 0)
        w->state = DATABASE_DONE; /* an error, or no rows */
    else if (w->start[0] == 0xfb)
        bad(w, "it asks for a file of this machine");
    else if (w->columns > DATABASE_COLUMNS_MAX)
        bad(w, "more than 4096 columns");
    else
        w->state = DATABASE_COLUMNS;
    w->column = 0;
    w->phase_bytes = 0;
}

static void end_row(struct database_watch *w)
{
    if (w->start[0] == 0xff || (w->start[0] == 0xfe && w->size < 9)) /* an error, or the last */
        w->state = DATABASE_DONE;
    else if (w->column != w->columns || w->value_left > 0 || w->length_n > 0)
        bad(w, "a row that is shorter than it told");
    w->ready++;
}

static void end_packet(struct database_watch *w)
{
    bool over = w->start[0] == 0 || w->start[0] == 0xff;
    switch (w->state) {
    case DATABASE_GREETING:
        if (over) /* the last word of signing in */
            w->state = DATABASE_COMMANDS;
        break;
    case DATABASE_COMMANDS:
        if (++w->answered > w->sent)
            bad(w, "it answers what was not asked");
        break;
    case DATABASE_ANSWER:
        end_answer(w);
        break;
    case DATABASE_COLUMNS: /* as many as told, and the mark of their end */
        if (w->column++ == w->columns) {
            w->state = w->start[0] == 0xff ? DATABASE_DONE : DATABASE_ROWS;
            begin_row(w);
        }
        break;
    case DATABASE_ROWS:
        end_row(w);
        begin_row(w);
        break;
    case DATABASE_DONE:
        bad(w, "it goes on after the end");
    }
    w->size = 0;
}

static bool is_row(const struct database_watch *w)
{
    return w->state == DATABASE_ROWS && w->start[0] != 0xff;
}

/* Bytes of one packet. The short one that ends the rows is read as a row of one unfinished length. */
static void take_bytes(struct database_watch *w, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n && w->size + i < sizeof w->start; i++)
        w->start[w->size + i] = p[i];
    w->size += n;
    if (w->state != DATABASE_ROWS)
        w->phase_bytes += n;
    if (w->state < DATABASE_ANSWER && w->phase_bytes > DATABASE_GREETING_MAX)
        bad(w, "a greeting of more than 1 MiB");
    else if (w->state < DATABASE_ROWS && w->phase_bytes > DATABASE_METADATA_MAX)
        bad(w, "names of columns of more than 4 MiB");
    else if (w->size > DATABASE_ROW_MAX)
        bad(w, "a row of more than 256 MiB");
    else if (is_row(w))
        take_row(w, p, n);
}

static void take(struct database_watch *w, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n && !w->ended;) {
        if (w->left == 0 && w->header_n < sizeof w->header) {
            w->header[w->header_n++] = p[i++];
            if (w->header_n < sizeof w->header)
                continue;
            w->left = (uint32_t)w->header[0] | (uint32_t)w->header[1] << 8 | (uint32_t)w->header[2] << 16;
            w->more = w->left == PART_MAX;
            if (w->size == 0)
                memset(w->start, 0, sizeof w->start);
        }
        size_t part = n - i < w->left ? n - i : w->left;
        take_bytes(w, p + i, part);
        i += part;
        w->left -= (uint32_t)part;
        if (w->left > 0)
            continue;
        w->header_n = 0;
        if (!w->more && !w->ended)
            end_packet(w);
    }
}

/* --- waiting --- */

static bool wait_for_more(struct database_watch *w, struct err *err)
{
    struct pollfd p = {.fd = socket_of(w), .events = POLLIN};
    for (int waited = 0; waited < DATABASE_SILENCE_S * 1000; waited += ASK_MS) {
        if (!w->go_on(w->ctx, err))
            return false;
        int n = poll(&p, 1, ASK_MS);
        if (n > 0 || (n < 0 && errno != EINTR))
            return true;
    }
    return err_message(err, ERR_UPSTREAM, NULL, MESSAGE_DATABASE_SILENT, DATABASE_SILENCE_S);
}

bool database_watch_wait(struct database_watch *w, struct err *err)
{
    bool there =
        w->ready > 0 || w->state == DATABASE_DONE || w->ended || (w->patient && w->state == DATABASE_ROWS);
    if (there || wait_for_more(w, err))
        return true;
    w->err = *err;
    end(w);
    return false;
}

/* libmariadb calls it after each read and write. Before it reads on in the middle of a packet, the rest of it
 * is waited for here, where the task may be cancelled. */
static void seen(int mode, MYSQL *c, const unsigned char *p, size_t n)
{
    struct database_watch *w = watching;
    if (!w || w->connection != c || (ssize_t)n <= 0)
        return;
    if (mode != 0) {
        if (w->state == DATABASE_COMMANDS && w->sent == w->answered)
            w->sent++;
        return;
    }
    take(w, p, n);
    if (!w->ended && !w->patient &&
        (w->left > 0 || w->header_n > 0 || w->more || w->state == DATABASE_COLUMNS) &&
        !wait_for_more(w, &w->err))
        end(w);
}

static void init(void)
{
    ma_pvio_register_callback(1, seen);
}

void database_watch_begin(struct database_watch *w)
{
    pthread_once(&once, init);
    watching = w;
}

void database_watch_end(struct database_watch *w)
{
    if (watching == w)
        watching = NULL;
}

bool database_watch_query(struct database_watch *w, struct err *err)
{
    if (!database_watch_ok(w, err))
        return false;
    if (w->state != DATABASE_COMMANDS || w->sent != w->answered || w->header_n > 0)
        return err_message(err, ERR_UPSTREAM, NULL, MESSAGE_DATABASE_ODD, "it answers what was not asked");
    w->state = DATABASE_ANSWER;
    w->phase_bytes = 0;
    return true;
}
