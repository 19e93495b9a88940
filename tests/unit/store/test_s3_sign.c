/* The signature: the first two are examples of the service's documentation, the others were made with an
 * independent implementation of it. That real servers accept it is tested with the API. */
#include "base/clock.h"
#include "store/s3_sign.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct example {
    const char *method, *path, *query, *token, *signature, *names;
};

static const struct example examples[] = {
    {"GET", "/", "lifecycle=", NULL, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
     "host;x-amz-content-sha256;x-amz-date"},
    {"GET", "/", "max-keys=2&prefix=J", NULL,
     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
     "host;x-amz-content-sha256;x-amz-date"},
    {"DELETE", "/a%20b/%E7%8B%97.png", "", NULL,
     "77abe0bb583208567e63354930596aa7c82f8527bdcaaceabcbea849860b1a4b",
     "host;x-amz-content-sha256;x-amz-date"},
    {"GET", "/x", "", "token+/=", "2c90c5ea756d35796f5af337dee0728cbe0146af2e6efa38a89a88cc0beaf54b",
     "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"},
};

static void test_examples(void **state)
{
    (void)state;
    struct arena a;
    int64_t at;
    arena_init(&a);
    assert_true(clock_parse(STR("2013-05-24T00:00:00Z"), &at));
    for (size_t i = 0; i < countof(examples); i++) {
        const struct example *x = &examples[i];
        char date[S3_DATE_MAX];
        struct s3_signing s = {.key = "AKIAIOSFODNN7EXAMPLE",
                               .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                               .token = x->token,
                               .region = "us-east-1",
                               .host = "examplebucket.s3.amazonaws.com",
                               .method = x->method,
                               .path = str_of(x->path),
                               .query = str_of(x->query),
                               .payload = EMPTY,
                               .at = at};
        const char *wanted =
            arena_printf(&a,
                         "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
                         "aws4_request,SignedHeaders=%s,Signature=%s",
                         x->names, x->signature);
        assert_string_equal(s3_sign(&a, &s, date), wanted);
        assert_string_equal(date, "20130524T000000Z");
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
