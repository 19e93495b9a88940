/* A small strict XML reader for annotation files: elements and text. Attributes are checked and dropped,
 * comments, processing instructions and CDATA are understood; a document type declaration is refused, so
 * there are no entities but the five built in and character references. At most 64 levels. */
#ifndef INGOT_CODEC_XML_H
#define INGOT_CODEC_XML_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct xml_node {
    struct str name, text; /* text: all character data of the element itself */
    struct xml_node *children, *next;
};

/* The root element; everything lives in the arena. ERR_MALFORMED with the line otherwise. */
const struct xml_node *xml_parse(struct arena *a, struct str text, struct err *err);
const struct xml_node *xml_child(const struct xml_node *n, const char *name); /* the first; NULL: none */
struct str xml_text(const struct xml_node *n);                                /* "" for NULL */
/* Appends text with the five characters escaped; what XML cannot hold is left out. */
void xml_escape(struct buf *b, struct str text);

#endif
