"""Command lines in Python."""

import csv
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import caffe
from test_classifier import model  # noqa: F401  (a fixture)

LOG = """\
I1231 23:59:50.000000  123 solver.cpp:60] Creating training net
I1231 23:59:58.500000  123 solver.cpp:279] Solving LeNet
I1231 23:59:58.500000  123 solver.cpp:337] Iteration 0, Testing net (#0)
I1231 23:59:59.500000  123 solver.cpp:404]     Test net output #0: accuracy = 0.1
I1231 23:59:59.500000  123 solver.cpp:404]     Test net output #1: loss = 2.5 (* 1 = 2.5 loss)
I0101 00:00:00.500000  123 solver.cpp:228] Iteration 0 (3 iter/s, 1s/50 iters), loss = 2.4
I0101 00:00:00.500000  123 solver.cpp:244]     Train net output #0: loss = 2.25 (* 1 = 2.25 loss)
I0101 00:00:00.500000  123 sgd_solver.cpp:106] Iteration 0, lr = 0.01
I0101 00:00:08.500000  123 solver.cpp:228] Iteration 50 (3 iter/s, 1s/50 iters), loss = 1.4
I0101 00:00:08.500000  123 solver.cpp:244]     Train net output #0: loss = 1.25e-1 (* 1 = 0.125 loss)
I0101 00:00:08.500000  123 sgd_solver.cpp:106] Iteration 50, lr = 1e-3
I0101 00:00:09.500000  123 solver.cpp:337] Iteration 60, Testing net (#0)
I0101 00:00:10.500000  123 solver.cpp:404]     Test net output #0: accuracy = 0.9
I0101 00:00:10.500000  123 solver.cpp:404]     Test net output #1: loss = nan (* 1 = nan loss)
"""


def run(script, *args):
    return subprocess.run([sys.executable, script, *map(str, args)], text=True,
                          capture_output=True)


def rows_of(file):
    with open(file, newline='') as table:
        return list(csv.reader(table))


@pytest.fixture
def scripts(source_dir):
    return source_dir / 'scripts'


@pytest.fixture
def python_dir(build_dir):
    return build_dir / 'python'


def test_parse_log(scripts, write, tmp_path):
    done = run(scripts / 'parse_log.py', write(LOG, 'a.log'), tmp_path)
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / 'a.log.train') == [
        ['NumIters', 'Seconds', 'LearningRate', 'loss'],
        ['0', '2.0', '0.01', '2.25'], ['50', '10.0', '0.001', '0.125']]
    assert rows_of(tmp_path / 'a.log.test') == [
        ['NumIters', 'Seconds', 'LearningRate', 'accuracy', 'loss'],
        ['0', '1.0', '0.01', '0.1', '2.5'],
        ['60', '12.0', '0.001', '0.9', 'nan']]
    done = run(scripts / 'parse_log.py', tmp_path / 'a.log', tmp_path,
               '--delimiter=;', '--verbose')
    assert '2 rows' in done.stdout
    assert (tmp_path / 'a.log.test').read_text().startswith('NumIters;Seconds')


def test_logs_of_ours(scripts, solver_file, build_dir, tmp_path):
    if not (build_dir / 'bin' / 'caffe').exists():
        pytest.skip('built without tools')
    solver = solver_file('display: 5 test_iter: 1 test_interval: 10')
    training = subprocess.run([build_dir / 'bin' / 'caffe', 'train',
                               f'--solver={solver}', '--minloglevel=0'],
                              capture_output=True, text=True)
    (tmp_path / 'b.log').write_text(training.stderr)
    assert run(scripts / 'parse_log.py', tmp_path / 'b.log',
               tmp_path).returncode == 0
    train = rows_of(tmp_path / 'b.log.train')
    assert train[0] == ['NumIters', 'Seconds', 'LearningRate', 'loss']
    assert [row[0] for row in train[1:]] == ['0', '5', '10', '15']
    assert {row[2] for row in train[1:]} == {'0.01'}
    assert [row[0] for row in rows_of(tmp_path / 'b.log.test')[1:]] == [
        '0', '10', '20']


def test_plot_training_log(scripts, write, tmp_path):
    pytest.importorskip('matplotlib')
    log = write(LOG, 'a.log')
    for chart, name, begin in ((0, 'a.png', b'\x89PNG'), (7, 'a.svg', b'<?xml'),
                               (4, 'b.svg', b'<?xml')):
        done = run(scripts / 'plot_training_log.py', chart, tmp_path / name,
                   log, log)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).read_bytes().startswith(begin)
    empty = write('nothing\n', 'empty.log')
    done = run(scripts / 'plot_training_log.py', 0, tmp_path / 'c.png', empty)
    assert done.returncode == 1 and 'Test accuracy vs. Iters' in done.stderr
    assert '6: Train loss vs. Iters' in run(scripts / 'plot_training_log.py',
                                            '--help').stdout


def test_classify(python_dir, model, tmp_path):  # noqa: F811
    folder = tmp_path / 'images'
    folder.mkdir()
    colors = [(255, 0, 0), (0, 255, 0)]
    for number, color in enumerate(colors):
        Image.new('RGB', (20, 10), color).save(folder / f'{number}.png')
    options = ['--model_def', model[0], '--pretrained_model', model[1],
               '--images_dim=8,10', '--channel_swap=2,1,0']
    output = tmp_path / 'scores.npy'
    done = run(python_dir / 'classify.py', folder, output, '--ext=png',
               *options)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(output), [[0, 0, 255], [0, 255, 0]],
                               atol=0.01)
    mean = caffe.io.array_to_blobproto(np.full((1, 3, 4, 6), 55.0))
    (tmp_path / 'mean.binaryproto').write_bytes(mean.SerializeToString())
    done = run(python_dir / 'classify.py', folder / '0.png', output,
               '--center_only', f'--mean_file={tmp_path}/mean.binaryproto',
               *options)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(output), [[-55, -55, 200]], atol=0.01)
    done = run(python_dir / 'classify.py', folder, output, *options)
    assert done.returncode == 1 and 'no files *.jpg' in done.stderr


def test_detect(python_dir, model, tmp_path):  # noqa: F811
    image = Image.new('RGB', (20, 10))
    image.paste((255, 0, 0), (0, 0, 10, 10))
    image.save(tmp_path / 'a.png')
    windows = tmp_path / 'windows.csv'
    windows.write_text('filename,ymin,xmin,ymax,xmax\n'
                       f'{tmp_path}/a.png,0,0,10,10\n'
                       f'{tmp_path}/a.png,0,10,10,20\n')
    output = tmp_path / 'scores.csv'
    done = run(python_dir / 'detect.py', windows, output, '--model_def',
               model[0], '--pretrained_model', model[1], '--channel_swap=',
               '--context_pad=0', '--raw_scale=1')
    assert done.returncode == 0, done.stderr
    rows = rows_of(output)
    assert rows[0] == ['filename', 'ymin', 'xmin', 'ymax', 'xmax', 'class0',
                       'class1', 'class2']
    assert [float(row[5]) for row in rows[1:]] == pytest.approx([1, 0])


def test_draw_net(python_dir, source_dir, tmp_path):
    pytest.importorskip('pydot')
    if shutil.which('dot') is None:
        pytest.skip('needs Graphviz')
    done = run(python_dir / 'draw_net.py',
               source_dir / 'examples/mnist/lenet_train_test.prototxt',
               tmp_path / 'lenet.svg', '--phase=TRAIN', '--rankdir=TB')
    assert done.returncode == 0, done.stderr
    assert 'conv2' in (tmp_path / 'lenet.svg').read_text()
