#include "core/data/room.h"

#include "base/json.h"
#include "base/map.h"

#include <pthread.h>

struct message {
    int64_t revision; /* 0: an empty place */
    enum sample_state state;
    char *item; /* JSON; NULL: it cannot be told */
};

struct room_member {
    struct room *room;
    struct room_member *next;
    int64_t user;
    char *name, *client;
    bool (*send)(void *ctx, struct str text);
    void (*end)(void *ctx, const char *reason);
    void *ctx;
    bool greeted;     /* else it waits for its hello */
    int64_t revision; /* that it was told */
    enum sample_state state;
    bool full, ended;
};

struct room {
    struct {
        int64_t sample, layer;
    } key;
    int64_t version, newest; /* revision */
    struct room_member *members;
    size_t count;
    struct message kept[ROOM_KEPT]; /* that of revision r is at r % ROOM_KEPT */
};

struct rooms {
    pthread_mutex_t lock;
    struct map *all; /* key -> struct room */
    size_t people;
};

struct rooms *rooms_new(void)
{
    struct rooms *r = base_zalloc(sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    r->all = map_new();
    return r;
}

void rooms_free(struct rooms *r)
{
    if (!r)
        return;
    map_free(r->all); /* its members have left */
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static struct str key_of(const struct room *room)
{
    return (struct str){(const char *)&room->key, sizeof room->key};
}

static struct room *find(const struct rooms *r, int64_t sample, int64_t layer)
{
    struct room wanted;
    wanted.key.sample = sample;
    wanted.key.layer = layer;
    return map_get(r->all, key_of(&wanted));
}

/* --- sending --- */

static void send_to(struct room_member *m, struct str text)
{
    if (!m->ended)
        m->full = !m->send(m->ctx, text);
}

static void end_member(struct room_member *m, const char *reason)
{
    if (m->ended)
        return;
    m->ended = true;
    m->end(m->ctx, reason);
}

static void fall_out(struct room_member *m)
{
    send_to(m, STR("{\"type\":\"reload\"}"));
    end_member(m, "reload");
}

static void tell_state(struct room_member *m, const struct message *msg)
{
    char text[128];
    if (msg->state == m->state)
        return;
    m->state = msg->state;
    int n = snprintf(text, sizeof text, "{\"type\":\"state\",\"state\":\"%s\",\"revision\":%lld}",
                     sample_state_names[msg->state], (long long)msg->revision);
    send_to(m, (struct str){text, (size_t)n});
}

/* What comes next for a member, as long as it takes it. A revision that is not there yet is on its way by
 * another thread. */
static void go_on(struct room_member *m)
{
    struct room *room = m->room;
    while (m->greeted && !m->full && !m->ended && m->revision < room->newest) {
        const struct message *msg = &room->kept[(m->revision + 1) % ROOM_KEPT];
        if (msg->revision < m->revision + 1)
            return;
        if (msg->revision > m->revision + 1 || !msg->item) {
            fall_out(m);
            return;
        }
        auto_buf struct buf text = {0};
        buf_printf(&text, "{\"type\":\"operations\",\"items\":[%s]}", msg->item);
        m->revision++;
        send_to(m, buf_view(&text));
        tell_state(m, msg);
    }
}

static void close_all(struct room *room, const char *reason)
{
    for (struct room_member *m = room->members; m; m = m->next) {
        char text[96];
        int n = snprintf(text, sizeof text, "{\"type\":\"closed\",\"reason\":\"%s\"}", reason);
        send_to(m, (struct str){text, (size_t)n});
        end_member(m, reason);
    }
}

static char *copy_text(struct str s)
{
    char *z = base_alloc(s.n + 1);
    memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    return z;
}

static void keep(struct room *room, const struct room_note *note)
{
    struct message *msg = &room->kept[note->revision % ROOM_KEPT];
    if (note->revision <= msg->revision)
        return;
    free(msg->item);
    *msg = (struct message){note->revision, note->state, NULL};
    if (note->item.p)
        msg->item = copy_text(note->item);
    if (note->revision > room->newest)
        room->newest = note->revision;
}

/* Whoever may see the sample without a lease, too, opens it again. */
static void send_away(struct room *room, int64_t user)
{
    for (struct room_member *m = room->members; m; m = m->next)
        if (m->user == user) {
            send_to(m, STR("{\"type\":\"closed\",\"reason\":\"lease\"}"));
            end_member(m, "lease");
        }
}

void rooms_tell(struct rooms *r, const struct room_note *notes, size_t n)
{
    if (!r || !n)
        return;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < n && map_count(r->all); i++) {
        struct room *room = find(r, notes[i].sample, notes[i].layer);
        if (!room)
            continue;
        if (notes[i].leaves) {
            send_away(room, notes[i].leaves);
            continue;
        }
        if (!notes[i].revision) {
            close_all(room, "deleted");
            continue;
        }
        keep(room, &notes[i]);
        for (struct room_member *m = room->members; m; m = m->next)
            go_on(m);
    }
    pthread_mutex_unlock(&r->lock);
}

bool rooms_has(struct rooms *r, int64_t sample, int64_t layer)
{
    pthread_mutex_lock(&r->lock);
    bool has = find(r, sample, layer) != NULL;
    pthread_mutex_unlock(&r->lock);
    return has;
}

void rooms_close(struct rooms *r, int64_t version, bool own, const char *reason)
{
    struct str key;
    void *value;
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; map_next(r->all, &i, &key, &value);) {
        struct room *room = value;
        if (room->version == version && (!own || !room->key.layer))
            close_all(room, reason);
    }
    pthread_mutex_unlock(&r->lock);
}

void rooms_count(struct rooms *r, size_t *ret_rooms, size_t *ret_people)
{
    pthread_mutex_lock(&r->lock);
    *ret_rooms = map_count(r->all);
    *ret_people = r->people;
    pthread_mutex_unlock(&r->lock);
}

/* --- people --- */

static void write_people(const struct room *room, struct json_out *o)
{
    json_array(o);
    for (const struct room_member *m = room->members; m; m = m->next) {
        if (!m->greeted || m->ended)
            continue;
        json_object(o);
        json_kz(o, "client", m->client);
        json_key(o, "user");
        json_object(o);
        json_kint(o, "id", m->user);
        json_kz(o, "name", m->name);
        json_object_end(o);
        json_object_end(o);
    }
    json_array_end(o);
}

/* Everybody but the one that came, whose hello has the same. */
static void tell_people(struct room *room, const struct room_member *but)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "type", "people");
    json_key(&o, "people");
    write_people(room, &o);
    json_object_end(&o);
    for (struct room_member *m = room->members; m; m = m->next)
        if (m != but && m->greeted)
            send_to(m, buf_view(&text));
}

/* --- members --- */

static struct room *open_room(struct rooms *r, const struct room_join *j)
{
    struct room *room = find(r, j->sample, j->layer);
    if (room)
        return room;
    room = base_zalloc(sizeof *room);
    room->key.sample = j->sample;
    room->key.layer = j->layer;
    room->version = j->version;
    map_set(r->all, key_of(room), room);
    return room;
}

struct room_member *room_enter(struct rooms *r, const struct room_join *j)
{
    pthread_mutex_lock(&r->lock);
    struct room *room = open_room(r, j);
    struct room_member *m = NULL;
    if (room->count < ROOM_PEOPLE) {
        m = base_zalloc(sizeof *m);
        *m = (struct room_member){.room = room,
                                  .next = room->members,
                                  .user = j->user,
                                  .name = base_strdup(j->name ? j->name : ""),
                                  .client = copy_text(j->client),
                                  .send = j->send,
                                  .end = j->end,
                                  .ctx = j->ctx};
        room->members = m;
        room->count++;
        r->people++;
    }
    pthread_mutex_unlock(&r->lock);
    return m;
}

void room_hello(struct rooms *r, struct room_member *m, int64_t revision, enum sample_state state,
                struct str hello)
{
    auto_buf struct buf people = {0}, text = {0};
    struct json_out o;
    pthread_mutex_lock(&r->lock);
    m->greeted = true;
    m->revision = revision;
    m->state = state;
    json_begin(&o, &people);
    write_people(m->room, &o);
    buf_str(&text, (struct str){hello.p, hello.n - 1}); /* without its brace */
    buf_printf(&text, ",\"people\":" STR_FMT "}", STR_ARG(buf_view(&people)));
    send_to(m, buf_view(&text));
    tell_people(m->room, m);
    go_on(m);
    pthread_mutex_unlock(&r->lock);
}

void room_drained(struct rooms *r, struct room_member *m)
{
    pthread_mutex_lock(&r->lock);
    m->full = false;
    go_on(m);
    pthread_mutex_unlock(&r->lock);
}

static void close_room(struct rooms *r, struct room *room)
{
    map_remove(r->all, key_of(room));
    for (size_t i = 0; i < ROOM_KEPT; i++)
        free(room->kept[i].item);
    free(room);
}

void room_left(struct rooms *r, struct room_member *m)
{
    struct room *room = m->room;
    pthread_mutex_lock(&r->lock);
    struct room_member **at = &room->members;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    room->count--;
    r->people--;
    if (room->count)
        tell_people(room, NULL);
    else
        close_room(r, room);
    pthread_mutex_unlock(&r->lock);
    free(m->name);
    free(m->client);
    free(m);
}

void room_send(struct rooms *r, struct room_member *m, struct str text)
{
    pthread_mutex_lock(&r->lock);
    send_to(m, text);
    pthread_mutex_unlock(&r->lock);
}

void room_pass(struct rooms *r, struct room_member *m, struct str text)
{
    pthread_mutex_lock(&r->lock);
    for (struct room_member *other = m->room->members; other; other = other->next)
        if (other != m && other->greeted && !other->full)
            send_to(other, text);
    pthread_mutex_unlock(&r->lock);
}
