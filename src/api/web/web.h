/* The web UI: the files of api/web/assets.h, pre-compressed, with ETag. Paths without a dot are pages of the
 * single-page application and get index.html. */
#ifndef INGOT_API_WEB_H
#define INGOT_API_WEB_H

#include "net/http.h"

void web_respond(struct request *r);
/* Whether Accept-Encoding names the coding without q=0. */
bool web_accepts(struct str header, const char *coding);

#endif
