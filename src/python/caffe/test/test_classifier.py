"""Classifier and Detector."""

import sys
import types

import numpy as np
import pytest
from PIL import Image

import caffe

# The mean of every channel of the input, as scores.
MEANS = """
layer { name: 'data' type: 'Input' top: 'data'
        input_param { shape { dim: 3 dim: 3 dim: 4 dim: 6 } } }
layer { name: 'means' type: 'Pooling' bottom: 'data' top: 'means'
        pooling_param { pool: AVE global_pooling: true } }
layer { name: 'scores' type: 'InnerProduct' bottom: 'means' top: 'scores'
        inner_product_param { num_output: 3 } }
"""


@pytest.fixture
def model(write, tmp_path):
    """The net's prototxt and its weights, which keep the means as they are."""
    file = write(MEANS)
    net = caffe.Net(file, caffe.TEST)
    net.params['scores'][0].data[...] = np.eye(3)
    net.save(tmp_path / 'means.caffemodel')
    return file, str(tmp_path / 'means.caffemodel')


def test_one_crop(model, rng):
    images = [rng.random((8, 10, 3)).astype(np.float32) for _ in range(5)]
    classifier = caffe.Classifier(*model, image_dims=(8, 10))
    scores = classifier.predict(images, oversample=False)
    assert scores.shape == (5, 3)
    for image, score in zip(images, scores):
        np.testing.assert_allclose(score, image[2:6, 2:8].mean(axis=(0, 1)),
                                   rtol=1e-5)


def test_ten_crops(model, rng):
    images = [rng.random((8, 10, 3)).astype(np.float32) for _ in range(2)]
    classifier = caffe.Classifier(*model, image_dims=(8, 10),
                                  mean=np.array([1., 2, 3]), raw_scale=10,
                                  input_scale=0.1, channel_swap=(2, 1, 0))
    scores = classifier.predict(images)
    assert scores.shape == (2, 3)
    for image, score in zip(images, scores):
        crops = [image[y:y + 4, x:x + 6].mean(axis=(0, 1))
                 for y, x in ((0, 0), (0, 4), (4, 0), (4, 4), (2, 2))]
        expected = (np.mean(crops, axis=0)[::-1] * 10 - [1, 2, 3]) / 10
        np.testing.assert_allclose(score, expected, rtol=1e-4)


def test_images_of_any_size(model):
    classifier = caffe.Classifier(*model)
    np.testing.assert_array_equal(classifier.image_dims, (4, 6))
    images = [np.full((size, size, 3), 0.5, np.float32) for size in (3, 50)]
    np.testing.assert_allclose(classifier.predict(images), 0.5, rtol=1e-5)
    assert isinstance(classifier, caffe.Net)


def test_windows(model, rng, tmp_path):
    image = rng.random((20, 30, 3)).astype(np.float32)
    detector = caffe.Detector(*model)
    windows = [(0, 0, 4, 6), (10, 12, 14, 18), (2, 3, 10, 15), (0, 0, 20, 30)]
    found = detector.detect_windows([(image, windows)])
    assert [detection['window'] for detection in found] == windows
    for detection, (y0, x0, y1, x1) in zip(found[:3], windows):
        np.testing.assert_allclose(detection['prediction'],
                                   image[y0:y1, x0:x1].mean(axis=(0, 1)),
                                   rtol=1e-4)
    file = tmp_path / 'image.png'
    Image.fromarray((image * 255).astype(np.uint8)).save(file)
    found = detector.detect_windows([(file, windows[:1]), (str(file), [])])
    assert len(found) == 1 and found[0]['filename'] == file
    assert detector.detect_windows([]) == []
    with pytest.raises(caffe.Error, match='nothing of an image'):
        detector.detect_windows([(image, [(30, 30, 40, 40)])])


def test_context(model):
    # A bright window in a dark image, and its surroundings.
    image = np.zeros((40, 40, 3), np.float32)
    image[10:14, 10:18] = 1
    detector = caffe.Detector(*model, context_pad=1, mean=np.array([3., 2, 1]),
                              raw_scale=2.0, channel_swap=(2, 1, 0))
    # Of the input's 4 x 6, one pixel on each side is context.
    crop = detector.crop(image, (10, 10, 14, 18))
    assert crop.shape == (4, 6, 3)
    np.testing.assert_allclose(crop[1:3, 1:5], 1, atol=0.51)
    assert crop[1:3, 1:5].mean() > 0.7 > 0.3 > crop[0].mean()
    # Outside of the image there is what the net sees as zeros.
    corner = detector.crop(image, (0, 0, 4, 8))
    np.testing.assert_allclose(corner[0, 0], [0.5, 1, 1.5])
    np.testing.assert_allclose(corner[2, 3], 0)
    np.testing.assert_allclose(
        detector.transformer.preprocess('data', corner)[:, 0, 0], 0, atol=1e-6)
    with pytest.raises(caffe.Error, match='context_pad'):
        detector.configure_crop(2)


def test_selective_search(model, monkeypatch, tmp_path):
    detector = caffe.Detector(*model)
    with pytest.raises(caffe.Error, match='selective_search'):
        detector.detect_selective_search(['a.png'])
    Image.new('RGB', (20, 10), (255, 0, 0)).save(tmp_path / 'a.png')
    search = types.ModuleType('selective_search_ijcv_with_python')
    search.get_windows = lambda names, cmd: [[(0, 0, 5, 5)] for _ in names]
    monkeypatch.setitem(sys.modules, search.__name__, search)
    found, = detector.detect_selective_search([str(tmp_path / 'a.png')])
    np.testing.assert_allclose(found['prediction'], [1, 0, 0], atol=1e-6)


def test_nets_without_inputs(write, tmp_path):
    file = write("""layer { name: 'd' type: 'DummyData' top: 'd'
                            dummy_data_param { shape { dim: 1 } } }""")
    caffe.Net(file, caffe.TEST).save(tmp_path / 'd.caffemodel')
    with pytest.raises(caffe.Error, match='has no input'):
        caffe.Classifier(file, tmp_path / 'd.caffemodel')
