/* ingot-infer predict: files to annotations, without a server. */
#ifndef INGOT_INFER_PROGRAM_PREDICT_H
#define INGOT_INFER_PROGRAM_PREDICT_H

/* Returns the exit code. argv[0] is "predict". */
int predict_main(int argc, char **argv);

#endif
