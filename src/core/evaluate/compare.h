/* Two evaluations of the same samples side by side. */
#ifndef INGOT_CORE_EVALUATE_COMPARE_H
#define INGOT_CORE_EVALUATE_COMPARE_H

#include "core/evaluate/evaluate.h"
#include "metric/agreement.h"

extern const struct field evaluation_compare_fields[];
bool evaluation_compare_run(struct op *op, struct object *o, const struct db_value *input,
                            struct json_out *out, int *status, struct err *err);

/* One figure of both: the difference and where it would be in 95 of 100 draws of the same samples for both.
 */
struct evaluation_difference {
    double value, other, difference, low, high; /* NAN: not known */
    bool better, worse;                         /* beyond chance; neither: these samples cannot show it */
};
/* figure: its number in both (matches.h). less: less of it is better. */
struct evaluation_difference evaluation_difference(struct arena *a, const struct matches *m, double value,
                                                   const struct matches *with, double other, size_t figure,
                                                   bool less);

/* An evaluation beside another on the same samples, in its main figure and in how often both models say the
 * same of a sample. In the arena. ERR_CONFLICT: the samples, or what was true of them, were others. */
struct evaluation_beside {
    struct str figure;
    bool less; /* less of it is better */
    struct evaluation_difference difference;
    struct agreement_counts agreement;
};
bool evaluation_beside(struct core *core, const struct object *o, const struct object *with, struct arena *a,
                       struct evaluation_beside *ret, struct err *err);

#endif
