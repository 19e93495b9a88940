/* `ingot infer`: starts ingot-infer, the program beside this one that serves models, in its place. */
#ifndef INGOT_CLI_INFER_H
#define INGOT_CLI_INFER_H

int infer_main(int argc, char **argv);

#endif
