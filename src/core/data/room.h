/* Rooms: the people who have one sample (or one annotation layer of it) open at the same time. What is
 * committed to a sample is told to its room in the order of its revisions, whatever thread tells it first: a
 * room keeps the last messages, and each member is given those after what it has. A member that does not take
 * them falls out and is told to load the sample again. Where nobody has a sample open, a note costs a
 * look-up.
 *
 * A member is the API's (a WebSocket): it is given texts to send. All functions may be called from any
 * thread; `send` and `end` are called under the lock of the rooms, are quick and call nothing of here. */
#ifndef INGOT_CORE_DATA_ROOM_H
#define INGOT_CORE_DATA_ROOM_H

#include "core/data/sample.h"

#define ROOM_PEOPLE 32  /* members of one room */
#define ROOM_KEPT   256 /* messages that a member may be behind */

struct rooms;
struct room_member;

/* What happened to a sample, for its room; in the memory of the write. */
struct room_note {
    int64_t sample, layer, version;
    int64_t revision; /* that it has now; 0: it is gone */
    enum sample_state state;
    int64_t leaves;  /* nothing changed, but this user's lease on it ended: they leave */
    struct str item; /* one of "items" of {"type":"operations"}, JSON; STR_NULL: too much to be told */
};

struct rooms *rooms_new(void);
void rooms_free(struct rooms *r);
void rooms_tell(struct rooms *r, const struct room_note *notes, size_t n);
/* Whether anybody has it open: only then an item need be written. */
bool rooms_has(struct rooms *r, int64_t sample, int64_t layer);
/* All rooms of a version (layer 0 only when `own`), with the reason that members are told. */
void rooms_close(struct rooms *r, int64_t version, bool own, const char *reason);
/* For metrics. */
void rooms_count(struct rooms *r, size_t *ret_rooms, size_t *ret_people);

/* --- members --- */
struct room_join {
    int64_t sample, layer, version;
    int64_t user;
    const char *name;  /* of the user */
    struct str client; /* the id that its operations begin with */
    /* Sends a text; false: it has too much to send, and gives room_drained when it has sent it. */
    bool (*send)(void *ctx, struct str text);
    void (*end)(void *ctx, const char *reason); /* no message follows; room_left is still to be called */
    void *ctx;
};
/* Nothing is sent before room_hello. NULL when the room is full. */
struct room_member *room_enter(struct rooms *r, const struct room_join *j);
/* hello is a JSON object, the sample as it was at `revision`, to which the people are added;
 * what was told since follows it. */
void room_hello(struct rooms *r, struct room_member *m, int64_t revision, enum sample_state state,
                struct str hello);
void room_drained(struct rooms *r, struct room_member *m);
void room_left(struct rooms *r, struct room_member *m); /* frees it */
/* To this member only; waits for nothing. */
void room_send(struct rooms *r, struct room_member *m, struct str text);
/* To all others, unless they are slow: cursors. text is a whole message. */
void room_pass(struct rooms *r, struct room_member *m, struct str text);

#endif
