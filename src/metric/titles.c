#include "metric/titles.h"

const struct figure_title figure_titles[] = {
    {"accuracy", "Accuracy", "准确率", FIGURE_MAIN},
    {"precision", "Precision", "精确率", FIGURE_MAIN},
    {"recall", "Recall", "召回率", FIGURE_MAIN},
    {"f1", "F1", "F1", FIGURE_MAIN},
    {"f1_micro", "F1 (micro)", "F1（微平均）", 0},
    {"calibration_error", "Calibration error", "校准误差", FIGURE_LESS},
    {"mAP", "mAP", "mAP", FIGURE_MAIN},
    {"mAP50", "mAP50", "mAP50", FIGURE_MAIN},
    {"mAP75", "mAP75", "mAP75", 0},
    {"mAP_small", "mAP, small", "mAP（小目标）", 0},
    {"mAP_medium", "mAP, medium", "mAP（中目标）", 0},
    {"mAP_large", "mAP, large", "mAP（大目标）", 0},
    {"mAR", "mAR", "mAR", FIGURE_MAIN},
    {"mAR1", "mAR1", "mAR1", 0},
    {"mAR10", "mAR10", "mAR10", 0},
    {"mAR100", "mAR100", "mAR100", FIGURE_MAIN},
    {"mAR50", "mAR50", "mAR50", 0},
    {"mAR75", "mAR75", "mAR75", 0},
    {"mAR_small", "mAR, small", "mAR（小目标）", 0},
    {"mAR_medium", "mAR, medium", "mAR（中目标）", 0},
    {"mAR_large", "mAR, large", "mAR（大目标）", 0},
    {"mIoU", "mIoU", "mIoU", FIGURE_MAIN},
    {"CER", "Character error rate", "字符错误率", FIGURE_MAIN | FIGURE_LESS},
    {"WER", "Word error rate", "词错误率", FIGURE_MAIN | FIGURE_LESS},
    {"exact", "Exact match", "完全匹配率", FIGURE_MAIN},
    {0},
};

const struct figure_title *figure_title(struct str name)
{
    for (const struct figure_title *f = figure_titles; f->name; f++)
        if (str_is(name, f->name))
            return f;
    return NULL;
}
