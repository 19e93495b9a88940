#include "core/pending.h"

#include "core/changes.h"
#include "core/controller.h"
#include "core/data/room.h"

void pending_begin(struct pending *p)
{
    p->n = p->note_count = 0;
}

void pending_note(struct pending *p, const struct room_note *note)
{
    if (!p)
        return;
    if (p->note_count == p->note_cap) {
        size_t cap = p->note_cap ? p->note_cap * 2 : 4;
        p->notes = arena_grow(p->arena, p->notes, p->note_cap * sizeof *p->notes, cap * sizeof *p->notes);
        p->note_cap = cap;
    }
    p->notes[p->note_count++] = *note;
}

void pending_add(struct pending *p, const struct object *o, const char *verb)
{
    if (!p)
        return;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 4;
        p->items = arena_grow(p->arena, p->items, p->cap * sizeof *p->items, cap * sizeof *p->items);
        p->cap = cap;
    }
    p->items[p->n++] = (struct pending_change){*o, verb};
}

void pending_tell_one(struct core *core, const struct object *o, const char *verb)
{
    if (o->kind->changed && strcmp(verb, CHANGES_STATUS) != 0)
        o->kind->changed(core, o, verb);
    controllers_changed(core, o->kind->name, verb);
    changes_tell(
        core->changes,
        &(struct change){
            .kind = o->kind->name, .verb = verb, .id = o->id, .project = o->project, .parent = o->parent});
}

void pending_tell(struct core *core, const struct pending *p)
{
    for (size_t i = 0; i < p->n; i++)
        pending_tell_one(core, &p->items[i].object, p->items[i].verb);
    rooms_tell(core->rooms, p->notes, p->note_count);
}
