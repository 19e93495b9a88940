/* _fast.c: what _pure.py does, in C: records over mapped shards, found and decoded without a copy, and
 * CRC-32C. Core holds buffers of the shards; Record and the views of fields hold the Core, so that the files
 * stay mapped as long as anything points into them. Every offset of a file is checked before it is followed.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BYTES, UTF8, JSON, INT64, FLOAT64, ARRAY };

#define ABSENT     0xFFFFFFFFu
#define ENTRY_SIZE 16

static uint64_t le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static uint32_t le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

/* ---- CRC-32C ---------------------------------------------------------------------------------------------
 */

static uint32_t crc_table[8][256];

static void crc_init(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
        crc_table[0][i] = c;
    }
    for (unsigned i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++)
            crc_table[t][i] = crc_table[0][crc_table[t - 1][i] & 255] ^ crc_table[t - 1][i] >> 8;
}

static uint32_t crc_soft(uint32_t c, const uint8_t *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t lo = le32(p) ^ c, hi = le32(p + 4);
        c = crc_table[7][lo & 255] ^ crc_table[6][lo >> 8 & 255] ^ crc_table[5][lo >> 16 & 255] ^
            crc_table[4][lo >> 24] ^ crc_table[3][hi & 255] ^ crc_table[2][hi >> 8 & 255] ^
            crc_table[1][hi >> 16 & 255] ^ crc_table[0][hi >> 24];
    }
    while (n--)
        c = crc_table[0][(c ^ *p++) & 255] ^ c >> 8;
    return c;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t c, const uint8_t *p, size_t n)
{
    uint64_t a = c;
    for (; n >= 8; n -= 8, p += 8)
        a = _mm_crc32_u64(a, le64(p));
    c = (uint32_t)a;
    while (n--)
        c = _mm_crc32_u8(c, *p++);
    return c;
}
#endif

static uint32_t crc32c(uint32_t crc, const uint8_t *p, size_t n)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_sse42(~crc, p, n);
#endif
    return ~crc_soft(~crc, p, n);
}

static PyObject *fast_crc32c(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer data;
    unsigned int crc = 0;
    if (!PyArg_ParseTuple(args, "y*|I:crc32c", &data, &crc))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    crc = crc32c(crc, data.buf, (size_t)data.len);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(crc);
}

/* ---- Core ------------------------------------------------------------------------------------------------
 */

struct shard {
    Py_buffer buffer;
    const uint8_t *data;
    uint64_t first, count, data_offset, index_offset, keys_offset;
    PyObject *file;
};

typedef struct {
    PyObject_HEAD struct shard *shards;
    Py_ssize_t shard_count;
    uint64_t total;
    PyObject *names;    /* dict: name to field number */
    PyObject *decoders; /* tuple: None or a callable per field */
    PyObject *corrupt;  /* the exception */
    uint8_t kinds[256];
    uint32_t fields;
    int key;
    uint8_t *checked; /* NULL without verify */
} Core;

typedef struct {
    PyObject_HEAD Core *core;
    const uint8_t *data;
    uint32_t size;
    uint64_t number;
} Record;

/* Exports the bytes of one value to a memoryview. */
typedef struct {
    PyObject_HEAD Core *core;
    const uint8_t *data;
    uint32_t size;
} Span;

static PyTypeObject CoreType, RecordType, SpanType;

static int corrupt(const Core *c, const char *what, uint64_t number)
{
    PyErr_Format(c->corrupt, "record %llu: %s", (unsigned long long)number, what);
    return -1;
}

static const struct shard *find_shard(const Core *c, uint64_t i)
{
    Py_ssize_t low = 0, high = c->shard_count;
    while (high - low > 1) {
        Py_ssize_t mid = low + (high - low) / 2;
        if (c->shards[mid].first <= i)
            low = mid;
        else
            high = mid;
    }
    return &c->shards[low];
}

/* Record number i < total: where it is, checked. */
static int locate(Core *c, uint64_t i, const uint8_t **ret_data, uint32_t *ret_size)
{
    const struct shard *s = find_shard(c, i);
    const uint8_t *entry = s->data + s->index_offset + (i - s->first) * ENTRY_SIZE;
    uint64_t offset = le64(entry);
    uint32_t size = le32(entry + 8);
    if (offset < s->data_offset || offset > s->index_offset || offset % 64 ||
        size > s->index_offset - offset || size < c->fields * 8) {
        PyErr_Format(c->corrupt, "%U: record %llu: impossible offset or length in the index", s->file,
                     (unsigned long long)i);
        return -1;
    }
    if (c->checked && !c->checked[i]) {
        if (crc32c(0, s->data + offset, size) != le32(entry + 12)) {
            PyErr_Format(c->corrupt, "%U: record %llu: its checksum is wrong", s->file,
                         (unsigned long long)i);
            return -1;
        }
        c->checked[i] = 1;
    }
    *ret_data = s->data + offset;
    *ret_size = size;
    return 0;
}

/* The bytes of a field. 1: there, 0: absent, -1: damage. */
static int field_bytes(const Core *c, const uint8_t *data, uint32_t size, uint32_t field, uint64_t number,
                       const uint8_t **ret_data, uint32_t *ret_size)
{
    uint32_t offset = le32(data + field * 8), length = le32(data + field * 8 + 4);
    if (length == ABSENT && offset == 0)
        return 0;
    if (offset < c->fields * 8 || offset > size || length > size - offset)
        return corrupt(c, "a field has an impossible offset or length", number);
    *ret_data = data + offset;
    *ret_size = length;
    return 1;
}

/* A field by name or number; -1 with an exception. */
static int field_number(const Core *c, PyObject *field)
{
    if (PyUnicode_Check(field)) {
        PyObject *n = PyDict_GetItemWithError(c->names, field);
        if (!n) {
            if (!PyErr_Occurred())
                PyErr_SetObject(PyExc_KeyError, field);
            return -1;
        }
        field = n;
    }
    Py_ssize_t i = PyNumber_AsSsize_t(field, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < 0 || i >= (Py_ssize_t)c->fields) {
        PyErr_Format(PyExc_IndexError, "field %zd: the record has %u fields", i, (unsigned)c->fields);
        return -1;
    }
    return (int)i;
}

static PyObject *make_view(Core *c, const uint8_t *data, uint32_t size)
{
    Span *span = PyObject_New(Span, &SpanType);
    if (!span)
        return NULL;
    Py_INCREF(c);
    span->core = c;
    span->data = data;
    span->size = size;
    PyObject *view = PyMemoryView_FromObject((PyObject *)span);
    Py_DECREF(span);
    return view;
}

static int record_number(const Core *c, PyObject *index, uint64_t *ret)
{
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < 0)
        i += (Py_ssize_t)c->total;
    if (i < 0 || (uint64_t)i >= c->total) {
        PyErr_Format(PyExc_IndexError, "record %zd: the set has %llu records", i,
                     (unsigned long long)c->total);
        return -1;
    }
    *ret = (uint64_t)i;
    return 0;
}

static PyObject *core_subscript(PyObject *self, PyObject *index)
{
    Core *c = (Core *)self;
    uint64_t i;
    const uint8_t *data;
    uint32_t size;
    if (record_number(c, index, &i) < 0 || locate(c, i, &data, &size) < 0)
        return NULL;
    Record *r = PyObject_New(Record, &RecordType);
    if (!r)
        return NULL;
    Py_INCREF(c);
    r->core = c;
    r->data = data;
    r->size = size;
    r->number = i;
    return (PyObject *)r;
}

static PyObject *core_view(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    Core *c = (Core *)self;
    uint64_t i;
    const uint8_t *data, *value;
    uint32_t size, length;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "view(number, field)");
        return NULL;
    }
    int field = field_number(c, args[1]);
    if (field < 0 || record_number(c, args[0], &i) < 0 || locate(c, i, &data, &size) < 0)
        return NULL;
    int there = field_bytes(c, data, size, (uint32_t)field, i, &value, &length);
    if (there < 0)
        return NULL;
    if (!there)
        Py_RETURN_NONE;
    return make_view(c, value, length);
}

static uint64_t key_hash(const uint8_t *p, Py_ssize_t n)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (Py_ssize_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

static uint64_t lower_bound(const struct shard *s, uint64_t hash)
{
    uint64_t low = 0, high = s->count;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (le64(s->data + s->keys_offset + mid * ENTRY_SIZE) < hash)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* 1: found, 0: not in this shard, -1: damage. */
static int find_in_shard(Core *c, const struct shard *s, const uint8_t *key, Py_ssize_t n, uint64_t hash,
                         uint64_t *ret)
{
    for (uint64_t k = lower_bound(s, hash); k < s->count; k++) {
        const uint8_t *entry = s->data + s->keys_offset + k * ENTRY_SIZE, *data, *value;
        uint32_t number = le32(entry + 8), size, length;
        if (le64(entry) != hash)
            return 0;
        if (number >= s->count) {
            PyErr_Format(c->corrupt, "%U: impossible record number in the key table", s->file);
            return -1;
        }
        if (locate(c, s->first + number, &data, &size) < 0)
            return -1;
        int there = field_bytes(c, data, size, (uint32_t)c->key, s->first + number, &value, &length);
        if (there < 0)
            return -1;
        if (there && length == (size_t)n && memcmp(value, key, length) == 0) {
            *ret = s->first + number;
            return 1;
        }
    }
    return 0;
}

static PyObject *core_find(PyObject *self, PyObject *arg)
{
    Core *c = (Core *)self;
    char *key;
    Py_ssize_t n;
    uint64_t found = 0;
    int state = 0;
    if (c->key < 0) {
        PyErr_SetString(PyExc_ValueError, "the schema names no key field");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(arg, &key, &n) < 0)
        return NULL;
    uint64_t hash = key_hash((const uint8_t *)key, n);
    for (Py_ssize_t i = 0; !state && i < c->shard_count; i++)
        state = find_in_shard(c, &c->shards[i], (const uint8_t *)key, n, hash, &found);
    if (state < 0)
        return NULL;
    return state ? PyLong_FromUnsignedLongLong(found) : PyLong_FromLong(-1);
}

static PyObject *core_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    Core *c = (Core *)self;
    c->total = 0;
    for (Py_ssize_t i = 0; i < c->shard_count; i++)
        c->shards[i].count = 0;
    Py_RETURN_NONE;
}

static Py_ssize_t core_length(PyObject *self)
{
    return (Py_ssize_t)((Core *)self)->total;
}

/* Takes the buffer of one shard and checks that what _format.py found lies inside it. */
static int take_shard(Core *c, PyObject *item, struct shard *s)
{
    PyObject *object;
    unsigned long long first, count, data, index, keys;
    if (!PyArg_ParseTuple(item, "OKKKKKU:shard", &object, &first, &count, &data, &index, &keys, &s->file))
        return -1;
    Py_INCREF(s->file);
    if (PyObject_GetBuffer(object, &s->buffer, PyBUF_SIMPLE) < 0)
        return -1;
    s->data = s->buffer.buf;
    s->first = first;
    s->count = count;
    s->data_offset = data;
    s->index_offset = index;
    s->keys_offset = keys;
    uint64_t size = (uint64_t)s->buffer.len;
    if (index > size || data > index || count > (size - index) / ENTRY_SIZE || keys > size ||
        (c->key >= 0 && count > (size - keys) / ENTRY_SIZE) || first != c->total) {
        PyErr_SetString(PyExc_ValueError, "a shard's parts lie outside of it");
        return -1;
    }
    c->total += count;
    return 0;
}

static int take_shards(Core *c, PyObject *list)
{
    Py_ssize_t n = PySequence_Size(list);
    if (n < 1) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no shards");
        return -1;
    }
    c->shards = PyMem_Calloc((size_t)n, sizeof *c->shards);
    if (!c->shards) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        c->shard_count = i + 1;
        int rc = item ? take_shard(c, item, &c->shards[i]) : -1;
        Py_XDECREF(item);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static PyObject *core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *shards, *names, *decoders, *error;
    Py_buffer kinds;
    int key, verify;
    if (!PyArg_ParseTuple(args, "O(O!y*O!i)pO:Core", &shards, &PyDict_Type, &names, &kinds, &PyTuple_Type,
                          &decoders, &key, &verify, &error))
        return NULL;
    Core *c = (Core *)type->tp_alloc(type, 0);
    if (!c) {
        PyBuffer_Release(&kinds);
        return NULL;
    }
    bool fits =
        kinds.len >= 1 && kinds.len <= 256 && PyTuple_GET_SIZE(decoders) == kinds.len && key < kinds.len;
    if (fits) {
        memcpy(c->kinds, kinds.buf, (size_t)kinds.len);
        c->fields = (uint32_t)kinds.len;
    }
    PyBuffer_Release(&kinds);
    Py_INCREF(names);
    Py_INCREF(decoders);
    Py_INCREF(error);
    c->names = names;
    c->decoders = decoders;
    c->corrupt = error;
    c->key = key;
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "impossible layout");
    if (fits && take_shards(c, shards) == 0) {
        if (!verify)
            return (PyObject *)c;
        c->checked = PyMem_Calloc(c->total + 1, 1);
        if (c->checked)
            return (PyObject *)c;
        PyErr_NoMemory();
    }
    Py_DECREF(c);
    return NULL;
}

static void core_dealloc(PyObject *self)
{
    Core *c = (Core *)self;
    for (Py_ssize_t i = 0; i < c->shard_count; i++) {
        PyBuffer_Release(&c->shards[i].buffer);
        Py_XDECREF(c->shards[i].file);
    }
    PyMem_Free(c->shards);
    PyMem_Free(c->checked);
    Py_XDECREF(c->names);
    Py_XDECREF(c->decoders);
    Py_XDECREF(c->corrupt);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *core_row(PyObject *self, PyObject *index);

static PyMethodDef core_methods[] = {
    {"row", core_row, METH_O, "row(number): all fields of a record, decoded, in the schema's order"},
    {"view", (PyCFunction)(void (*)(void))core_view, METH_FASTCALL,
     "view(number, field): the bytes of a field, or None"},
    {"_find", core_find, METH_O, "_find(key): number of the first record with this key, or -1"},
    {"close", core_close, METH_NOARGS, "close(): no record can be read any more; views stay valid"},
    {NULL, NULL, 0, NULL},
};

static PyMappingMethods core_mapping = {.mp_length = core_length, .mp_subscript = core_subscript};

static PyTypeObject CoreType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ingot.record._fast.Core",
    .tp_basicsize = sizeof(Core),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Core(shards, layout, verify, error)",
    .tp_new = core_new,
    .tp_dealloc = core_dealloc,
    .tp_methods = core_methods,
    .tp_as_mapping = &core_mapping,
};

/* ---- views -----------------------------------------------------------------------------------------------
 */

static int span_buffer(PyObject *self, Py_buffer *view, int flags)
{
    Span *s = (Span *)self;
    return PyBuffer_FillInfo(view, self, (void *)(uintptr_t)s->data, (Py_ssize_t)s->size, 1, flags);
}

static void span_dealloc(PyObject *self)
{
    Py_DECREF(((Span *)self)->core);
    PyObject_Free(self);
}

static PyBufferProcs span_procs = {.bf_getbuffer = span_buffer};

static PyTypeObject SpanType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ingot.record._fast.Span",
    .tp_basicsize = sizeof(Span),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = span_dealloc,
    .tp_as_buffer = &span_procs,
};

/* ---- Record ----------------------------------------------------------------------------------------------
 */

/* The view of a field, None, or NULL with an exception. */
static PyObject *record_field_view(const Record *r, int field)
{
    const uint8_t *value;
    uint32_t length;
    int there = field_bytes(r->core, r->data, r->size, (uint32_t)field, r->number, &value, &length);
    if (there < 0)
        return NULL;
    if (!there)
        Py_RETURN_NONE;
    return make_view(r->core, value, length);
}

/* ValueError of a decoder means that the file is damaged. */
static PyObject *damaged(const Record *r, int field)
{
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_ValueError))
        return NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(r->core->corrupt, "record %llu: field %d: %S", (unsigned long long)r->number, field,
                 value ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return NULL;
}

static PyObject *decode_with(const Record *r, int field, const uint8_t *value, uint32_t length)
{
    PyObject *view = make_view(r->core, value, length);
    if (!view)
        return NULL;
    PyObject *result = PyObject_CallOneArg(PyTuple_GET_ITEM(r->core->decoders, field), view);
    Py_DECREF(view);
    return result ? result : damaged(r, field);
}

static PyObject *decode_number(const Record *r, int field, const uint8_t *value, uint32_t length)
{
    double d;
    if (length != 8) {
        PyErr_Format(r->core->corrupt, "record %llu: field %d: %u bytes, a number has 8",
                     (unsigned long long)r->number, field, (unsigned)length);
        return NULL;
    }
    uint64_t bits = le64(value);
    if (r->core->kinds[field] == INT64)
        return PyLong_FromLongLong((long long)bits);
    memcpy(&d, &bits, 8);
    return PyFloat_FromDouble(d);
}

static PyObject *record_decode(const Record *r, int field)
{
    const uint8_t *value;
    uint32_t length;
    PyObject *text;
    int there = field_bytes(r->core, r->data, r->size, (uint32_t)field, r->number, &value, &length);
    if (there < 0)
        return NULL;
    if (!there)
        Py_RETURN_NONE;
    switch (r->core->kinds[field]) {
    case BYTES:
        return make_view(r->core, value, length);
    case UTF8:
        text = PyUnicode_DecodeUTF8((const char *)value, (Py_ssize_t)length, NULL);
        return text ? text : damaged(r, field);
    case INT64:
    case FLOAT64:
        return decode_number(r, field, value, length);
    default:
        return decode_with(r, field, value, length);
    }
}

/* Without a Record, which nobody would keep. */
static PyObject *core_row(PyObject *self, PyObject *index)
{
    Record r = {.core = (Core *)self};
    if (record_number(r.core, index, &r.number) < 0 || locate(r.core, r.number, &r.data, &r.size) < 0)
        return NULL;
    PyObject *row = PyTuple_New((Py_ssize_t)r.core->fields);
    for (uint32_t i = 0; row && i < r.core->fields; i++) {
        PyObject *value = record_decode(&r, (int)i);
        if (value)
            PyTuple_SET_ITEM(row, (Py_ssize_t)i, value);
        else
            Py_CLEAR(row);
    }
    return row;
}

static PyObject *record_subscript(PyObject *self, PyObject *field)
{
    const Record *r = (const Record *)self;
    int i = field_number(r->core, field);
    return i < 0 ? NULL : record_decode(r, i);
}

static PyObject *record_view(PyObject *self, PyObject *field)
{
    const Record *r = (const Record *)self;
    int i = field_number(r->core, field);
    return i < 0 ? NULL : record_field_view(r, i);
}

static PyObject *record_dict(PyObject *self, PyObject *unused)
{
    (void)unused;
    const Record *r = (const Record *)self;
    PyObject *dict = PyDict_New(), *name, *number;
    Py_ssize_t at = 0;
    while (dict && PyDict_Next(r->core->names, &at, &name, &number)) {
        int i = field_number(r->core, number);
        PyObject *value = i < 0 ? NULL : record_decode(r, i);
        if (!value || PyDict_SetItem(dict, name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *record_keys(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PySequence_Tuple(((const Record *)self)->core->names);
}

static PyObject *record_raw(PyObject *self, PyObject *unused)
{
    (void)unused;
    const Record *r = (const Record *)self;
    return make_view(r->core, r->data, r->size);
}

static PyObject *record_get_number(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((const Record *)self)->number);
}

static PyObject *record_repr(PyObject *self)
{
    const Record *r = (const Record *)self;
    PyObject *comma = PyUnicode_FromString(", "), *text = NULL;
    PyObject *names = comma ? PyUnicode_Join(comma, r->core->names) : NULL;
    if (names)
        text = PyUnicode_FromFormat("<record %llu (%U)>", (unsigned long long)r->number, names);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    return text;
}

static Py_ssize_t record_length(PyObject *self)
{
    return (Py_ssize_t)((const Record *)self)->core->fields;
}

static void record_dealloc(PyObject *self)
{
    Py_DECREF(((Record *)self)->core);
    PyObject_Free(self);
}

static PyMethodDef record_methods[] = {
    {"view", record_view, METH_O, "view(field): the bytes of a field as they are in the file, or None"},
    {"dict", record_dict, METH_NOARGS, "dict(): all fields, decoded"},
    {"keys", record_keys, METH_NOARGS, "keys(): the names of the fields"},
    {"raw", record_raw, METH_NOARGS, "raw(): the whole record as it is in the file"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef record_getset[] = {
    {"number", record_get_number, NULL, "number of the record in its set", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMappingMethods record_mapping = {.mp_length = record_length, .mp_subscript = record_subscript};

static PyTypeObject RecordType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ingot.record._fast.Record",
    .tp_basicsize = sizeof(Record),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "One record; record[\"name\"] is a decoded field, in place where it can be",
    .tp_dealloc = record_dealloc,
    .tp_repr = record_repr,
    .tp_methods = record_methods,
    .tp_getset = record_getset,
    .tp_as_mapping = &record_mapping,
};

/* ---- module ----------------------------------------------------------------------------------------------
 */

static PyMethodDef functions[] = {
    {"crc32c", fast_crc32c, METH_VARARGS, "crc32c(data, crc=0)"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT, .m_name = "_fast", .m_doc = "Records in C", .m_size = -1, .m_methods = functions,
};

PyMODINIT_FUNC PyInit__fast(void)
{
    crc_init();
    if (PyType_Ready(&CoreType) < 0 || PyType_Ready(&RecordType) < 0 || PyType_Ready(&SpanType) < 0)
        return NULL;
    PyObject *m = PyModule_Create(&module_def);
    if (!m)
        return NULL;
    Py_INCREF(&CoreType);
    Py_INCREF(&RecordType);
    if (PyModule_AddObject(m, "Core", (PyObject *)&CoreType) < 0 ||
        PyModule_AddObject(m, "Record", (PyObject *)&RecordType) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
