"""Images, arrays and messages."""

import numpy as np
import pytest
from PIL import Image

import caffe
from caffe.proto import caffe_pb2


def test_blob_protos(rng):
    array = rng.standard_normal((2, 3, 4)).astype(np.float32)
    blob = caffe.io.array_to_blobproto(array, diff=2 * array)
    assert list(blob.shape.dim) == [2, 3, 4]
    np.testing.assert_array_equal(caffe.io.blobproto_to_array(blob), array)
    np.testing.assert_array_equal(
        caffe.io.blobproto_to_array(blob, return_diff=True), 2 * array)
    old = caffe_pb2.BlobProto(num=1, channels=2, height=1, width=3,
                              data=range(6))
    assert caffe.io.blobproto_to_array(old).shape == (1, 2, 1, 3)
    double = caffe_pb2.BlobProto(double_data=[0.1, 0.2])
    double.shape.dim.append(2)
    assert caffe.io.blobproto_to_array(double)[1] == 0.2
    text = caffe.io.arraylist_to_blobprotovector_str([array, array[0]])
    arrays = caffe.io.blobprotovector_str_to_arraylist(text)
    np.testing.assert_array_equal(arrays[1], array[0])


def test_datums(rng):
    image = rng.integers(0, 256, (3, 4, 5)).astype(np.uint8)
    datum = caffe.io.array_to_datum(image, label=7)
    assert (datum.channels, datum.height, datum.width) == (3, 4, 5)
    assert datum.label == 7 and len(datum.data) == 60
    np.testing.assert_array_equal(caffe.io.datum_to_array(datum), image)
    floats = image / 256 - 0.5
    datum = caffe.io.array_to_datum(floats)
    assert not datum.data and not datum.HasField('label')
    np.testing.assert_allclose(caffe.io.datum_to_array(datum), floats)
    with pytest.raises(ValueError, match='three axes'):
        caffe.io.array_to_datum(image[0])
    with pytest.raises(ValueError, match='encoded'):
        caffe.io.datum_to_array(caffe_pb2.Datum(encoded=True))


def test_images_in_files(tmp_path):
    pixels = np.zeros((2, 3, 3), np.uint8)
    pixels[0, 1] = [255, 51, 0]
    file = tmp_path / 'color.png'
    Image.fromarray(pixels).save(file)
    image = caffe.io.load_image(str(file))
    assert image.dtype == np.float32
    np.testing.assert_allclose(image, pixels / 255, rtol=1e-6)
    gray = caffe.io.load_image(file, color=False)
    assert gray.shape == (2, 3, 1)
    assert gray[0, 1, 0] == pytest.approx(0.2125 + 0.2 * 0.7154)
    Image.fromarray(pixels[:, :, 0]).save(file)
    assert caffe.io.load_image(file).shape == (2, 3, 3)
    assert caffe.io.load_image(file, color=False)[0, 1, 0] == 1
    Image.fromarray(np.full((2, 3), 65535, np.uint16)).save(file)
    assert caffe.io.load_image(file).max() == pytest.approx(1)
    with_alpha = Image.new('RGBA', (3, 2), (255, 0, 0, 128))
    with_alpha.save(file)
    np.testing.assert_allclose(caffe.io.load_image(file)[0, 0], [1, 0, 0])
    with pytest.raises(FileNotFoundError):
        caffe.io.load_image(tmp_path / 'no.png')


def test_resizing(rng):
    image = rng.random((5, 7, 3)).astype(np.float32)
    np.testing.assert_array_equal(caffe.io.resize_image(image, (5, 7)), image)
    # To half the size, every value is the mean of four.
    half = caffe.io.resize_image(image[:4, :6], (2, 3))
    np.testing.assert_allclose(
        half, image[:4, :6].reshape(2, 2, 3, 2, 3).mean(axis=(1, 3)), rtol=1e-5)
    # Twice the size: a quarter and three quarters of the neighbours.
    twice = caffe.io.resize_image(np.float32([[0, 4]])[:, :, None], (1, 4))
    np.testing.assert_allclose(twice[0, :, 0], [0, 1, 3, 4])
    nearest = caffe.io.resize_image(image, (10, 14), interp_order=0)
    np.testing.assert_array_equal(nearest[::2, 1::2], image)
    # A cubic polynomial keeps straight lines, inside.
    line = np.arange(8, dtype=np.float32)[None, :, None]
    cubic = caffe.io.resize_image(line, (1, 16), interp_order=3)[0, :, 0]
    np.testing.assert_allclose(cubic[4:-4], np.arange(2, 6, 0.5) - 0.25,
                               rtol=1e-5)
    many = rng.random((4, 4, 6)).astype(np.float32)
    assert caffe.io.resize_image(many, (3, 5)).shape == (3, 5, 6)
    with pytest.raises(ValueError, match='interp_order'):
        caffe.io.resize_image(image, (2, 2), interp_order=2)


def test_oversampling():
    image = np.arange(5 * 7, dtype=np.float32).reshape(5, 7, 1)
    crops = caffe.io.oversample([image, image + 100], (3, 4))
    assert crops.shape == (20, 3, 4, 1)
    first = crops[:, 0, 0, 0]
    np.testing.assert_array_equal(first[:5], [0, 3, 14, 17, 8])
    np.testing.assert_array_equal(first[5:10], [3, 6, 17, 20, 11])
    np.testing.assert_array_equal(crops[5:10], crops[:5, :, ::-1])
    np.testing.assert_array_equal(first[10:15], first[:5] + 100)
    with pytest.raises(ValueError, match='cannot crop'):
        caffe.io.oversample([image], (6, 2))


def test_transformer(rng):
    transformer = caffe.io.Transformer({'data': (1, 3, 4, 5)})
    transformer.set_transpose('data', (2, 0, 1))
    transformer.set_channel_swap('data', (2, 1, 0))
    transformer.set_raw_scale('data', 255)
    transformer.set_mean('data', np.array([10., 20, 30]))
    transformer.set_input_scale('data', 0.5)
    image = rng.random((4, 5, 3)).astype(np.float32)
    made = transformer.preprocess('data', image)
    assert made.shape == (3, 4, 5) and made.dtype == np.float32
    assert made[0, 2, 3] == pytest.approx((image[2, 3, 2] * 255 - 10) / 2,
                                          rel=1e-5)
    np.testing.assert_allclose(transformer.deprocess('data', made), image,
                               rtol=1e-4, atol=1e-6)
    assert transformer.preprocess('data', rng.random((8, 9, 3))).shape == (
        3, 4, 5)
    # A mean image of another size is brought to the net's.
    mean = np.ones((3, 8, 10)) * np.array([1, 2, 3])[:, None, None]
    transformer.set_mean('data', mean)
    np.testing.assert_allclose(transformer.mean['data'],
                               mean[:, ::2, ::2], rtol=1e-5)
    transformer.set_mean('data', np.zeros((4, 5)))
    assert transformer.mean['data'].shape == (1, 4, 5)


def test_transformers_check_what_they_get():
    transformer = caffe.io.Transformer({'data': (1, 3, 4, 5)})
    with pytest.raises(caffe.Error, match="'image' is not one of"):
        transformer.set_raw_scale('image', 2)
    with pytest.raises(caffe.Error, match='transpose needs 3'):
        transformer.set_transpose('data', (1, 0))
    with pytest.raises(caffe.Error, match='channel_swap needs 3'):
        transformer.set_channel_swap('data', (1, 0))
    for mean in (np.zeros(2), np.zeros((2, 4, 5)), np.zeros((1, 3, 4, 5))):
        with pytest.raises(ValueError, match='mean'):
            transformer.set_mean('data', mean)


def test_resizing_is_that_of_opencv(rng):
    cv2 = pytest.importorskip('cv2')
    image = rng.random((9, 14, 3)).astype(np.float32)
    for size in ((5, 6), (20, 31), (9, 28)):
        np.testing.assert_allclose(
            caffe.io.resize_image(image, size),
            cv2.resize(image, size[::-1], interpolation=cv2.INTER_LINEAR),
            rtol=1e-4, atol=1e-5)
