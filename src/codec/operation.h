/* One change of one sample's annotation: a stroke in the workbench, a label set, a whole annotation replaced.
 * Pure: reading, applying and writing; who may, history, rooms and conflicts with others are the caller's.
 *
 *     {"id":"k3Jd83hf.1","op":"put","shape":{...},"at":3}        add, or replace the shape of that id
 *     {"id":"k3Jd83hf.2","op":"remove","shape":"x81jDk2mQ0"}
 *     {"id":"k3Jd83hf.3","op":"label","label":"cat","on":true}   of the sample; where it may have one, that
 * one
 *     {"id":"k3Jd83hf.4","op":"text","text":"hello"}             transcript; null: none
 *     {"id":"k3Jd83hf.5","op":"attribute","name":"weather","value":"rain"}   of the sample; null: none
 *     {"id":"k3Jd83hf.6","op":"replace","annotation":{...}}
 *     {"id":"k3Jd83hf.7","op":"relabel","labels":{"cat":"tomcat"}}   the platform's, when a label set renames
 *
 * A shape is one entry of the list that the type has: a span of text spans, a segment of a transcription.
 * Every operation may have "base", the revision of the sample that its maker knew.
 *
 *     struct operation op;
 *     struct operation_outcome out;
 *     operation_read(arena, type, json, &op, &err) && operation_apply(arena, type, &n, &op, w, h, &out,
 * &err);
 *
 * What is applied is taken over: n then points into what op was read from, so both live in one arena, or the
 * annotation is written as text (model_text) before op's arena ends. A document that stays in memory grows
 * with each operation: now and then write it and read it again. */
#ifndef INGOT_CODEC_OPERATION_H
#define INGOT_CODEC_OPERATION_H

#include "codec/relabel.h"

enum operation_kind {
    OPERATION_PUT,
    OPERATION_REMOVE,
    OPERATION_LABEL,
    OPERATION_TEXT,
    OPERATION_ATTRIBUTE,
    OPERATION_REPLACE,
    OPERATION_RELABEL, /* never a client's */
    OPERATION_KIND_COUNT,
};
extern const char *const operation_names[]; /* "put", ... */

#define OPERATION_MAX_ID   44  /* bytes of an operation's id */
#define OPERATION_MAX_NAME 100 /* characters of the id of a shape, and of an attribute's name */

struct operation {
    struct str id;     /* "<client>.<number>" */
    struct str client; /* 8 to 24 letters and digits, of one tab or script */
    int64_t number;    /* from 1 */
    enum operation_kind kind;
    struct str
        target; /* what it touches: "shape:ab12", "label:cat", "label", "text", "attribute:x", "names", "*" */
    int64_t base; /* revision; -1: not given */

    struct str shape_id;          /* put, remove */
    enum model_list list;         /* put: which of the two it is */
    struct shape shape;           /* MODEL_SHAPES */
    struct part part;             /* MODEL_SPANS, MODEL_SEGMENTS */
    int64_t at;                   /* put: place in the list; -1: where it was, or last */
    struct str label;             /* label */
    bool on;                      /* label */
    struct str text;              /* text; STR_NULL: none */
    struct str name;              /* attribute */
    struct str value;             /* attribute: canonical JSON; STR_NULL: taken away */
    struct annotation annotation; /* replace */
    struct relabel *names;        /* relabel */
    size_t name_count;
};

/* Checks the operation and what it brings against the rules of the type; ERR_INVALID names the member
 * ("shape.w", "label"). *ret lives in the arena and points into v. */
bool operation_read(struct arena *a, enum annotation_type type, yyjson_val *v, struct operation *ret,
                    struct err *err);

struct operation_outcome {
    bool changed;     /* the annotation is another now, be it by an id only */
    bool clipped;     /* the shape reached over the edge and was cut; replace: some did */
    uint32_t dropped; /* replace: shapes left out, of which nothing lies inside */
    struct str shape; /* put: as it is now, canonical JSON */
};

/* Does it to n. w x h are the picture's pixels, 0 when they are not known (then nothing is cut). A shape that
 * lies wholly outside, or has no area, is refused (ERR_INVALID naming its member), and n says what it said;
 * so it does when it would exceed the limits of an annotation. What replaces the whole is cut as by
 * annotation_clip. op then holds the shape as it was put: what operation_write writes is what happened. */
bool operation_apply(struct arena *a, enum annotation_type type, struct annotation *n, struct operation *op,
                     uint32_t w, uint32_t h, struct operation_outcome *ret, struct err *err);

/* Canonical JSON, appended, without `base`, which only says something when the operation arrives. */
void operation_write(struct buf *b, struct operation *op);

/* Whether two operations with these targets exclude each other when neither maker knew of the other. */
bool operation_meets(struct str target, struct str other);

#endif
