#include "core/data/sample_show.h"

#include "base/clock.h"
#include "base/json.h"

void sample_show(struct json_out *o, const struct sample *s)
{
    char hex[SHA256_HEX + 1], at[CLOCK_TEXT_MAX];
    digest_hex(&s->blob, hex);
    json_object(o);
    json_kint(o, "id", s->id);
    json_kint(o, "position", s->position);
    json_kstr(o, "name", s->name);
    json_kz(o, "digest", hex);
    json_kint(o, "size", s->size);
    json_kint(o, "width", s->width);
    json_kint(o, "height", s->height);
    json_key(o, "duration");
    json_real(o, s->duration);
    json_kz(o, "state", sample_state_names[s->state]);
    json_kbool(o, "by_person", s->by_person);
    json_kint(o, "revision", s->revision);
    json_kz(o, "updated_at", clock_format(s->updated_at, at));
    json_kint(o, "updated_by", s->updated_by);
    json_key(o, "sharpness");
    s->measured ? json_real(o, s->sharpness) : json_null(o);
    json_key(o, "split");
    s->split ? json_string(o, str_of(codec_split_names[s->split])) : json_null(o);
    json_key(o, "annotation");
    json_raw(o, s->annotation);
    json_object_end(o);
}
