/* pictures.c: a small C program that uses a module of emitted C, as its header says and with nothing else at hand.
 *
 * In: a folder with image.bin (u8, height x width x 3), mean.bin, scale.bin (f32, 3), scores.bin (f32, rows x columns) and
 * a.bin, b.bin (f64). Each file is its rank, its extents (int64) and its elements.
 * Out: in the same folder planes.bin, the image less the mean, times the scale, plane by plane; shares.bin, the softmax of
 * every row; sums.bin, a[i] + b[j]; and on stdout what the module says of an image with four channels.
 * Exit code: 0, or 1 where a call is refused that should not be.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

enum { MOST_DIMS = 3 };

/* An array row by row; strides may be set otherwise. */
typedef struct {
    int32_t rank;
    int64_t extents[MOST_DIMS];
    int64_t byte_strides[MOST_DIMS];
    int64_t count;
    size_t bytes; /* of an element */
    void *data;
} tensor;

static const char *folder;

static void fail(const char *what, const char *of)
{
    fprintf(stderr, "pictures: %s: %s\n", what, of);
    exit(1);
}

static FILE *open_file(const char *name, const char *mode)
{
    char path[1024];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) fail("the path is too long", name);
    FILE *file = fopen(path, mode);
    if (file == NULL) fail("cannot open", path);
    return file;
}

static void lay_out(tensor *array, size_t bytes)
{
    array->bytes = bytes;
    array->count = 1;
    for (int32_t dim = array->rank - 1; dim >= 0; dim--) {
        array->byte_strides[dim] = array->count * (int64_t)bytes;
        array->count *= array->extents[dim];
    }
    array->data = malloc((size_t)array->count * bytes + 1);
    if (array->data == NULL) fail("no memory", "an array");
}

static tensor read_tensor(const char *name, size_t bytes)
{
    tensor array = {0};
    int64_t rank;
    FILE *file = open_file(name, "rb");
    if (fread(&rank, sizeof rank, 1, file) != 1 || rank > MOST_DIMS) fail("no rank", name);
    array.rank = (int32_t)rank;
    if (fread(array.extents, sizeof(int64_t), (size_t)rank, file) != (size_t)rank) fail("no extents", name);
    lay_out(&array, bytes);
    if (fread(array.data, bytes, (size_t)array.count, file) != (size_t)array.count) fail("no elements", name);
    fclose(file);
    return array;
}

static void write_elements(const char *name, const tensor *array)
{
    FILE *file = open_file(name, "wb");
    if (fwrite(array->data, array->bytes, (size_t)array->count, file) != (size_t)array->count) fail("no space", name);
    if (fclose(file) != 0) fail("no space", name);
}

static bcastgen_result written(const tensor *array)
{
    const bcastgen_result made = {array->data, array->extents, array->byte_strides, array->rank};
    return made;
}

static bcastgen_array view(const tensor *array)
{
    const bcastgen_result made = written(array);
    return bcastgen_operand(&made);
}

static void planes(const tensor *image, const tensor *mean, const tensor *scale)
{
    const bcastgen_array image_view = view(image), mean_view = view(mean), scale_view = view(scale);
    bcastgen_diagnostic why;
    char text[200];
    tensor result = {0};
    result.rank = 3;
    bcastgen_status status =
        kernels_normalise_shape(&image_view, &mean_view, &scale_view, result.extents, &why);
    if (status == BCASTGEN_OK) {
        lay_out(&result, sizeof(float));
        /* Channels come apart as they are written: it takes no more than other strides. */
        const int64_t width = result.extents[1], plane = result.extents[0] * width, bytes = sizeof(float);
        result.byte_strides[0] = width * bytes;
        result.byte_strides[1] = bytes;
        result.byte_strides[2] = plane * bytes;
        const bcastgen_result result_view = written(&result);
        status = kernels_normalise(&image_view, &mean_view, &scale_view, &result_view, &why);
    }
    if (status != BCASTGEN_OK) {
        kernels_normalise_message(status, &why, text, sizeof text);
        fail("normalise", text);
    }
    write_elements("planes.bin", &result);
    free(result.data);
}

static void softmax(const tensor *scores)
{
    const int64_t rows = scores->extents[0], columns = scores->extents[1];
    const bcastgen_array scores_view = view(scores);
    tensor top = {0}, total = {0}, result = *scores;
    top.rank = total.rank = 2;
    top.extents[0] = total.extents[0] = rows;
    top.extents[1] = total.extents[1] = 1;
    lay_out(&top, sizeof(float));
    lay_out(&total, sizeof(float));
    lay_out(&result, sizeof(float));
    for (int64_t row = 0; row < rows; row++) {
        const float *const line = (const float *)scores->data + row * columns;
        float most = line[0];
        for (int64_t column = 1; column < columns; column++) most = line[column] > most ? line[column] : most;
        ((float *)top.data)[row] = most;
    }
    const bcastgen_array top_view = view(&top), total_view = view(&total), raised_view = view(&result);
    const bcastgen_result result_view = written(&result);
    if (kernels_raised(&scores_view, &top_view, &result_view, NULL) != BCASTGEN_OK) fail("raised", "refused");
    for (int64_t row = 0; row < rows; row++) {
        const float *const line = (const float *)result.data + row * columns;
        double sum = 0;
        for (int64_t column = 0; column < columns; column++) sum += line[column];
        ((float *)total.data)[row] = (float)sum;
    }
    /* In place: the result is the operand itself. */
    if (kernels_shared(&raised_view, &total_view, &result_view, NULL) != BCASTGEN_OK) fail("shared", "refused");
    write_elements("shares.bin", &result);
    free(top.data);
    free(total.data);
    free(result.data);
}

static void outer(const tensor *a, const tensor *b)
{
    const bcastgen_array a_view = view(a), b_view = view(b);
    tensor result = {0};
    result.rank = 2;
    if (kernels_outer_shape(&a_view, &b_view, result.extents, NULL) != BCASTGEN_OK) fail("outer", "refused");
    lay_out(&result, sizeof(double));
    const bcastgen_result result_view = written(&result);
    if (kernels_outer(&a_view, &b_view, &result_view, NULL) != BCASTGEN_OK) fail("outer", "refused");
    write_elements("sums.bin", &result);
    free(result.data);
}

static void refused(const tensor *image, const tensor *mean)
{
    const int64_t four = 4;
    const bcastgen_array image_view = view(image), mean_view = view(mean);
    const bcastgen_array scale_view = {NULL, &four, NULL, 1};
    int64_t extents[3];
    bcastgen_diagnostic why;
    char text[200];
    const bcastgen_status status = kernels_normalise_shape(&image_view, &mean_view, &scale_view, extents, &why);
    if (status == BCASTGEN_OK) fail("normalise", "takes four channels for three");
    kernels_normalise_message(status, &why, text, sizeof text);
    printf("%s\n", text);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: pictures FOLDER\n");
        return 2;
    }
    folder = arguments[1];
    tensor image = read_tensor("image.bin", 1), mean = read_tensor("mean.bin", 4), scale = read_tensor("scale.bin", 4);
    tensor scores = read_tensor("scores.bin", 4), a = read_tensor("a.bin", 8), b = read_tensor("b.bin", 8);
    planes(&image, &mean, &scale);
    softmax(&scores);
    outer(&a, &b);
    refused(&image, &mean);
    tensor *const all[] = {&image, &mean, &scale, &scores, &a, &b};
    for (size_t at = 0; at < sizeof all / sizeof *all; at++) free(all[at]->data);
    return 0;
}
