/** What a sample that differs between two versions counts as: the first of these. */
export const changes = ['added', 'removed', 'changed', 'annotated', 'split'] as const
