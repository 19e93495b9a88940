/* What a write changed, kept until the commit is durable: then caches drop it, listeners hear of it and the
 * kind's `changed` runs. A write that is run again starts with an empty list. */
#ifndef INGOT_CORE_PENDING_H
#define INGOT_CORE_PENDING_H

#include "core/engine.h"

struct room_note;

struct pending {
    struct arena *arena;
    struct pending_change {
        struct object object;
        const char *verb;
    } * items;
    size_t n, cap;
    struct room_note *notes; /* what rooms of samples are told: core/data/room.h */
    size_t note_count, note_cap;
};

void pending_begin(struct pending *p); /* empties it: the write is run (again) */

/* pending may be NULL: then nothing is kept. */
void pending_add(struct pending *p, const struct object *o, const char *verb);
void pending_note(struct pending *p, const struct room_note *note);
/* After the commit, in the calling thread. */
void pending_tell(struct core *core, const struct pending *p);
void pending_tell_one(struct core *core, const struct object *o, const char *verb);

#endif
