"""Files that lead to other files, and what libhdf5 reads through them.

  other_files.py FOLDER CASES SEED

Makes files in FOLDER and prints one question a line as JSON: a file, options, a path, a slice, and what h5py reads there: its shape and
values, or an error.
"""
import ctypes, json, os, random, re, shutil, sys

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

folder, cases, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
rng = random.Random(seed)
U = h5s.UNLIMITED
TYPES = ['<i2', '>i4', '<i8', '<u1', '>f4', '<f8']
library = next(line.split()[-1] for line in open('/proc/self/maps') if re.search(r'libhdf5-[0-9a-f]+\.so', line))
library = ctypes.CDLL(library)


def values(array):
    if array.dtype == object:
        return [x.decode() if isinstance(x, bytes) else x for x in array.ravel().tolist()]
    return array.ravel().astype('f8').tolist()


def access(options):
    dapl = h5p.create(h5p.DATASET_ACCESS)
    if options.get('view') == 'first':
        dapl.set_virtual_view(h5d.VDS_FIRST_MISSING)
    if 'gap' in options:
        dapl.set_virtual_printf_gap(options['gap'])
    if 'virtual_prefix' in options:
        dapl.set_virtual_prefix(options['virtual_prefix'].encode())
    if 'raw_prefix' in options:
        dapl.set_efile_prefix(options['raw_prefix'].encode())
    return dapl


def ask(name, path, options={}, slices=None, fapl=None, opened=None, error=None, skip=lambda shape: False):
    """Prints what libhdf5 reads, or that it cannot. `error` says it without asking, where libhdf5 would crash or run on; `skip` says
    for which shapes libhdf5 is known to be wrong."""
    question = dict(file=name, path=path, options=options, slices=slices)
    try:
        if error:
            raise OSError(error)
        fid = h5f.open(os.fsencode(opened or name), h5f.ACC_RDONLY, fapl=fapl or h5p.create(h5p.FILE_ACCESS))
        with h5py.File(fid) as file:
            dataset = h5py.Dataset(h5d.open(file.id, path.encode(), access(options)))
            question['shape'] = list(dataset.shape)
            if skip(dataset.shape):
                return
            if slices == 'random':
                # libhdf5 cannot select nothing of some datasets.
                question['slices'] = slices = [some_slice(dim) for dim in dataset.shape] if 0 not in dataset.shape else None
            if slices:
                picked = tuple(slice(start, start + step * (count - 1) + 1, step) for start, step, count in slices)
                question['values'] = values((dataset if dataset.dtype == object else dataset.astype('f8'))[picked])
            else:
                question['values'] = values(dataset[()] if dataset.dtype == object else dataset.astype('f8')[()])
    except (OSError, RuntimeError, KeyError, ValueError) as why:
        question['error'] = str(why)
        if slices == 'random':
            question['slices'] = None
    print(json.dumps(question))


def some_slice(dim):
    start, step = rng.randrange(dim), rng.choice([1, 1, 2, 3])
    return [start, step, rng.randint(1, (dim - start + step - 1) // step)]


def pattern(count, room):
    """A regular pattern of `count` indices below `room`, as (start, stride, count, block); room is at least count."""
    block = rng.choice([b for b in range(1, count + 1) if count % b == 0])
    blocks = count // block
    most = (room - block) // (blocks - 1) if blocks > 1 else max(block, 1)
    stride = rng.randint(block, max(block, most))
    end = (blocks - 1) * stride + block
    return rng.randint(0, room - end), stride, blocks, block


def select(space, patterns):
    start, stride, count, block = zip(*patterns)
    space.select_hyperslab(tuple(start), tuple(count), tuple(stride), tuple(block))
    return space


def make_virtual(name, dtype, shape, maxshape, fill, mappings, libver=None):
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_libver_bounds(*(libver or (h5f.LIBVER_EARLIEST, h5f.LIBVER_LATEST)))
    with h5py.File(h5f.create(name.encode(), h5f.ACC_TRUNC, fapl=fapl)) as file:
        dcpl = h5p.create(h5p.DATASET_CREATE)
        if fill is not None:
            dcpl.set_fill_value(np.array(fill, dtype))
        for target, source_file, source_path, source in mappings:
            dcpl.set_virtual(target, source_file.encode(), source_path.encode(), source)
        h5d.create(file.id, b'v', h5t.py_create(np.dtype(dtype)), h5s.create_simple(shape, maxshape), dcpl)
        file['inside'] = np.arange(24, dtype='i4').reshape(4, 6)


def make_source(name, path, shape, maxshape=None):
    chunks = tuple(max(1, dim // 2) for dim in shape) if maxshape or rng.random() < 0.5 else None
    data = np.array([rng.randrange(100) for _ in range(int(np.prod(shape)))], dtype='f8').reshape(shape)
    if rng.random() < 0.3:
        data += 0.5
    with h5py.File(name, 'a') as file:
        file.create_dataset(path, data=data.astype(rng.choice(TYPES)), maxshape=maxshape, chunks=chunks)


def fixed(case):
    """Fixed mappings between random patterns; some sources are missing, some are virtual themselves."""
    rank = rng.randint(1, 3)
    shape = tuple(rng.randint(3, 9) for _ in range(rank))
    mappings, covered = [], np.zeros(shape, int)
    for number in range(rng.randint(1, 5)):
        counts = [rng.randint(1, dim) for dim in shape]
        target_patterns = [pattern(count, dim) for count, dim in zip(counts, shape)]
        target = select(h5s.create_simple(shape), target_patterns)
        room = [count + rng.randint(0, 4) for count in counts]
        if rng.random() < 0.2:  # as many elements, in one dimension
            counts = [int(np.prod(counts))]
            room = [counts[0] + rng.randint(0, 5)]
        source = h5s.create_simple(tuple(room))
        if room != counts or rng.random() < 0.5:
            select(source, [pattern(count, dim) for count, dim in zip(counts, room)])
        name, path = f'f{case}_{number % 2}.h5', f'g/d{number}'
        if rng.random() < 0.85:
            make_source(name, path, tuple(room))
        else:
            with h5py.File(name, 'a') as file:
                file.require_group('g')
        mappings.append((target, name, path, source))
        grid = np.ix_(*[[s + i * st + j for i in range(c) for j in range(b)] for s, st, c, b in target_patterns])
        covered[grid] += 1
    # Where mappings overlap, libhdf5 may leave out the fill value.
    fill = rng.choice([None, 7]) if covered.max() <= 1 else None
    name = f'fixed{case}.h5'
    libver = (h5f.LIBVER_LATEST, h5f.LIBVER_LATEST) if rng.random() < 0.5 else None
    make_virtual(name, rng.choice(TYPES), shape, shape, fill, mappings, libver)
    above = f'above{case}.h5'
    space = h5s.create_simple(shape)
    make_virtual(above, rng.choice(TYPES), shape, shape, fill, [(space, name, 'v', space)])
    for slices in (None, 'random', 'random'):
        ask(name, 'v', {}, slices)
    ask(above, 'v', {}, 'random')


def growing(case):
    """Mappings without end: the size follows the sources."""
    rank = rng.randint(1, 3)
    dim = rng.randrange(rank)
    others = [rng.randint(1, 4) for _ in range(rank)]
    shape = tuple(rng.randint(0, 3) if at == dim else size * 2 for at, size in enumerate(others))
    maxshape = tuple(U if at == dim else size for at, size in enumerate(shape))
    count = rng.randint(1, 3)
    mappings, firsts = [], []
    for number in range(count):
        block = rng.randint(1, 3)
        endless = rng.random() < 0.5
        target, source = [], []
        source_shape = []
        for at, size in enumerate(others):
            if at == dim:
                target.append((number * 3, 1, 1, U) if endless and count == 1 else (number * 3, 3 * count, U, rng.randint(1, 3)))
                source.append((rng.randint(0, 2), 1, 1, U) if rng.random() < 0.5 else (rng.randint(0, 2), block + rng.randint(0, 2), U, block))
                start, _, _, block = source[-1]
                firsts.append(target[-1])
                # libhdf5 takes a first block that is cut for a whole one.
                source_shape.append(rng.choice([size for size in range(13) if block == U or not start < size < start + block]))
            else:
                target.append(pattern(size, size * 2))
                source.append(pattern(size, size + 1))
                source_shape.append(size + 1)
        unlimited = tuple(U if at == dim else size for at, size in enumerate(source_shape))
        name = f'g{case}_{number}.h5'
        if rng.random() < 0.85:
            make_source(name, 'd', tuple(source_shape), unlimited)
        mappings.append((select(h5s.create_simple(shape, maxshape), target), name, 'd',
                         select(h5s.create_simple(tuple(source_shape), unlimited), source)))
    name = f'growing{case}.h5'
    make_virtual(name, rng.choice(TYPES), shape, maxshape, rng.choice([None, 9]), mappings)
    def cuts(shape):
        return any(start < shape[dim] < start + block for start, _, _, block in firsts if block != U)

    for options in ({}, dict(view='first')):
        for slices in (None, 'random'):
            ask(name, 'v', options, slices, skip=cuts)


def numbered(case):
    """A source for each block, some of them missing."""
    rank = rng.randint(1, 2)
    rows, width = rng.randint(1, 3), rng.randint(1, 4)
    stride = rows + rng.randint(0, 2)
    shape, maxshape = ((0,), (U,)) if rank == 1 else ((0, width), (U, width))
    target = h5s.create_simple(shape, maxshape)
    select(target, [(rng.randint(0, 2), stride, U, rows)] + [(0, 1, 1, width)] * (rank - 1))
    source = h5s.create_simple((rows,) if rank == 1 else (rows, width))
    blocks = [number for number in range(rng.randint(0, 6)) if rng.random() < 0.8]
    in_files = rng.random() < 0.5
    for number in blocks:
        name, path = (f'n{case}_{number}.h5', 'd') if in_files else (f'n{case}.h5', f'd%{number}')
        make_source(name, path, (rows,) if rank == 1 else (rows, width))
    file_name, path = (f'n{case}_%b.h5', 'd') if in_files else (f'n{case}.h5', 'd%%%b')
    name = f'numbered{case}.h5'
    make_virtual(name, rng.choice(TYPES), shape, maxshape, rng.choice([None, 5]), [(target, file_name, path, source)])
    for options in ({}, dict(gap=1), dict(gap=3), dict(view='first')):
        for slices in (None, 'random'):
            ask(name, 'v', options, slices)


def odd_sources():
    """Sources that are not what they should be."""
    with h5py.File('odd.h5', 'w') as file:
        file['d'] = np.arange(4)
        file['words'] = np.array(['a', 'bcd', '', 'é'], dtype=h5py.string_dtype())
        file['fixed'] = np.array([b'ab', b'c'])
        file.create_group('group')
        file['dangling'] = h5py.SoftLink('/nothing')
        file['soft'] = h5py.SoftLink('/d')
        file['link'] = h5py.ExternalLink('inner.h5', '/d')
        file['lost'] = h5py.ExternalLink('nowhere.h5', '/d')
    with h5py.File('inner.h5', 'w') as file:
        file['d'] = np.arange(10, 14)
    open('garbage.h5', 'wb').write(b'no HDF5 file' * 100)
    four, eight = h5s.create_simple((4,)), h5s.create_simple((8,))
    eight.select_hyperslab((2,), (4,))
    for number, (file, path) in enumerate([('odd.h5', 'd'), ('odd.h5', 'soft'), ('odd.h5', 'link'), ('odd.h5', 'dangling'),
                                           ('odd.h5', 'lost'), ('odd.h5', 'none'), ('none.h5', 'd'), ('odd.h5', 'no/group'),
                                           ('odd.h5', 'd/d'), ('odd.h5', 'group'), ('garbage.h5', 'd'), ('odd.h5', 'fixed'),
                                           ('.', 'inside'), (os.path.abspath('odd.h5'), 'd'), ('/no/such/place/odd.h5', 'd')]):
        source = four
        if path == 'inside':
            source = h5s.create_simple((4, 6))
            source.select_hyperslab((0, 1), (2, 2))
        make_virtual(f'odd{number}.h5', '<i4', (8,), (8,), -1, [(eight, file, path, source)])
        ask(f'odd{number}.h5', 'v')
    # libhdf5 follows these until its stack ends.
    eight.select_all()
    make_virtual('self.h5', '<i4', (8,), (8,), -1, [(eight, 'self.h5', 'v', eight)])
    ask('self.h5', 'v', error='it is its own source')
    make_virtual('twins.h5', '<i4', (8,), (8,), -1, [(eight, '.', path, eight) for path in ('v', '/v', '//v', './v')])
    ask('twins.h5', 'v', error='it is its own source')
    with h5py.File('words.h5', 'w') as file:
        layout = h5py.VirtualLayout((6,), dtype=h5py.string_dtype())
        layout[1:5] = h5py.VirtualSource('odd.h5', 'words', shape=(4,))
        file.create_virtual_dataset('v', layout)
    ask('words.h5', 'v')
    ask('words.h5', 'v', {}, [[2, 2, 2]])


def prefixes():
    """The same name in several places."""
    for number, place in enumerate(['here', 'there', 'here/below']):
        os.makedirs(place, exist_ok=True)
        for name in ('s.h5', f'only{number}.h5'):
            with h5py.File(f'{place}/{name}', 'w') as file:
                file['d'] = np.full(4, number)
        np.full(4, number + 10, dtype='<i4').tofile(f'{place}/raw.bin')
    os.makedirs('top', exist_ok=True)
    four = h5s.create_simple((4,))
    for source in ('s.h5', 'only0.h5', 'only1.h5', 'below/s.h5', '../there/s.h5'):
        name = 'here/virtual_' + source.replace('/', '_')
        make_virtual(name, '<i4', (4,), (4,), -1, [(four, source, 'd', four)])
        for prefix in (None, 'there', os.path.abspath('there'), '${ORIGIN}/below', '${ORIGIN}', 'nowhere'):
            ask(name, 'v', {} if prefix is None else dict(virtual_prefix=prefix))
    with h5py.File('here/raw.h5', 'w') as file:
        file.create_dataset('d', (4,), '<i4', external=[('raw.bin', 0, 8), ('raw.bin', 8, h5py.h5f.UNLIMITED)])
        file.create_dataset('far', (4,), '<i4', external=[(os.path.abspath('there/raw.bin'), 0, 16)])
        file.create_dataset('short', (4,), '<i4', external=[('raw.bin', 8, 16)])
        file.create_dataset('lost', (4,), '<i4', external=[('lost.bin', 0, 16)])
    for path in ('d', 'far', 'short', 'lost'):
        for prefix in ('${ORIGIN}', '${ORIGIN}/below', 'there', os.path.abspath('there')):
            ask('here/raw.h5', path, dict(raw_prefix=prefix))


def links():
    """External links: chains, circles, what is missing."""
    with h5py.File('links.h5', 'w') as file:
        file['near'] = h5py.ExternalLink('here/s.h5', '/d')
        file['group'] = h5py.ExternalLink('chain0.h5', '/')
        file['chain'] = h5py.ExternalLink('chain0.h5', '/next')
        file['soft'] = h5py.SoftLink('/group/next/next/d')
        file['circle'] = h5py.ExternalLink('circle.h5', '/back')
        file['no_file'] = h5py.ExternalLink('nowhere.h5', '/d')
        file['no_object'] = h5py.ExternalLink('here/s.h5', '/none')
        file['garbage'] = h5py.ExternalLink('garbage.h5', '/d')
        file['absolute'] = h5py.ExternalLink(os.path.abspath('here/s.h5'), 'd')
        file['stale'] = h5py.ExternalLink('/no/such/place/odd.h5', 'd')
    with h5py.File('one_link.h5', 'w') as file:  # few enough to stand in the header, which has no checksum
        file['near'] = h5py.ExternalLink('here/s.h5', '/d')
    with h5py.File('circle.h5', 'w') as file:
        file['back'] = h5py.ExternalLink('links.h5', '/circle')
    for number in range(20):
        with h5py.File(f'chain{number}.h5', 'w') as file:
            file['d'] = np.full(2, number)
            file['next'] = h5py.ExternalLink(f'chain{number + 1}.h5', '/next' if number < 8 else '/')
            file['long'] = h5py.ExternalLink(f'chain{number + 1}.h5', '/long' if number < 18 else '/d')
    with h5py.File('links.h5', 'a') as file:
        file['long'] = h5py.ExternalLink('chain0.h5', '/long')
        file['short'] = h5py.ExternalLink('chain5.h5', '/long')
    for path in ('near', 'group/d', 'group/next/d', 'chain/d', 'soft', 'circle', 'no_file', 'no_object', 'garbage', 'absolute',
                 'stale', 'long', 'short', 'group/none', 'chain/next/next/d'):
        ask('links.h5', path)


def several_files():
    """Family, multi and split files, old and new."""
    def fapl(kind, libver):
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_libver_bounds(libver, h5f.LIBVER_LATEST)
        if kind == 'split':
            assert library.H5Pset_fapl_split(ctypes.c_int64(fapl.id), b'-m.h5', ctypes.c_int64(0), b'-r.h5', ctypes.c_int64(0)) >= 0
        elif kind == 'multi':
            assert library.H5Pset_fapl_multi(ctypes.c_int64(fapl.id), None, None, None, None, ctypes.c_bool(True)) >= 0
        else:
            fapl.set_fapl_family(2000)
        return fapl

    for kind, name, ours in [('split', 'split{}', 'split{}-m.h5'), ('multi', 'multi{}', 'multi{}-s.h5'),
                             ('family', 'family{}-%03d.h5', 'family{}-%03d.h5')]:
        for libver in (h5f.LIBVER_EARLIEST, h5f.LIBVER_V110, h5f.LIBVER_LATEST):
            theirs = name.format(libver)
            with h5py.File(h5f.create(theirs.encode(), h5f.ACC_TRUNC, fapl=fapl(kind, libver))) as file:
                file['numbers'] = np.arange(500, dtype='>i2')
                file['group/words'] = ['one', 'two', 'three']
                file.create_dataset('chunks', data=np.arange(600.).reshape(20, 30), chunks=(7, 8), compression='gzip')
            for path in ('numbers', 'group/words', 'chunks', 'none'):
                ask(ours.format(libver), path, {}, None, fapl(kind, libver), theirs)
    for letter in 'sbglo':
        shutil.copy(f'multi0-{letter}.h5', f'half-{letter}.h5')
    for path in ('numbers', 'none'):
        ask('half-s.h5', path, {}, None, fapl('multi', 0), 'half')


def many():
    """Ten thousand mappings, all to one file."""
    with h5py.File('numbers.h5', 'w') as file:
        file['d'] = np.arange(10_000)
    space = h5s.create_simple((10_000,))
    mappings = []
    for row in range(10_000):
        one = space.copy()
        one.select_hyperslab((row,), (1,))
        mappings.append((one, 'numbers.h5', 'd', one))
    make_virtual('many.h5', '<i4', (10_000,), (10_000,), -1, mappings, (h5f.LIBVER_LATEST, h5f.LIBVER_LATEST))


def tower():
    """Virtual datasets that each map the whole of the next one twice: as many ways down as two to the power of the levels."""
    space = h5s.create_simple((1 << 23,))
    for level in range(14):
        below = f'tower{level + 1}.h5'
        make_virtual(f'tower{level}.h5', '|i1', (1 << 23,), (1 << 23,), 7, [(space, below, 'v', space)] * 2)


many()
tower()
odd_sources()
prefixes()
links()
several_files()
for case in range(cases):
    fixed(case)
    growing(case)
    numbered(case)
