#include "codec/label.h"

#include "codec/model.h"

#define POINTS_MAX 10000

void label_write(struct json_out *o, const struct codec_label *l)
{
    json_object(o);
    json_kstr(o, "name", l->name);
    if (l->parent.n)
        json_kstr(o, "parent", l->parent);
    if (l->keypoint_count) {
        json_key(o, "keypoints");
        json_array(o);
        for (size_t i = 0; i < l->keypoint_count; i++)
            json_string(o, l->keypoints[i]);
        json_array_end(o);
        json_key(o, "edges");
        json_array(o);
        for (size_t i = 0; i < l->edge_count; i++) {
            json_array(o);
            json_int(o, l->edges[i][0]);
            json_int(o, l->edges[i][1]);
            json_array_end(o);
        }
        json_array_end(o);
    }
    if (l->attributes.n) {
        json_key(o, "attributes");
        json_raw(o, l->attributes);
    }
    if (l->retired)
        json_kbool(o, "retired", true);
    json_object_end(o);
}

bool label_read(struct arena *a, yyjson_val *v, struct codec_label *ret)
{
    struct codec_label l = {.name = json_str(yyjson_obj_get(v, "name")),
                            .parent = json_str(yyjson_obj_get(v, "parent"))};
    yyjson_val *names = yyjson_obj_get(v, "keypoints"), *edges = yyjson_obj_get(v, "edges"), *item;
    size_t i, max, n = yyjson_arr_size(names), m = yyjson_arr_size(edges);
    if (!l.name.n || !model_is_label(l.name))
        return false;
    if (n > POINTS_MAX)
        n = m = 0;
    struct str *keypoints = arena_array(a, struct str, n + 1);
    uint16_t(*pairs)[2] = arena_alloc(a, (m + 1) * sizeof *pairs);
    for (i = 0; i < n; i++)
        keypoints[i] = json_str(yyjson_arr_get(names, i));
    yyjson_arr_foreach(edges, i, max, item)
    {
        uint64_t from = yyjson_get_uint(yyjson_arr_get(item, 0)),
                 to = yyjson_get_uint(yyjson_arr_get(item, 1));
        if (from >= n || to >= n)
            continue;
        pairs[l.edge_count][0] = (uint16_t)from;
        pairs[l.edge_count++][1] = (uint16_t)to;
    }
    yyjson_val *attributes = yyjson_obj_get(v, "attributes");
    const char *why;
    if (yyjson_is_arr(attributes) && yyjson_arr_size(attributes))
        model_attribute(a, attributes, &l.attributes, &why);
    l.retired = yyjson_get_bool(yyjson_obj_get(v, "retired"));
    l.keypoints = keypoints;
    l.keypoint_count = n;
    l.edges = pairs;
    *ret = l;
    return true;
}
