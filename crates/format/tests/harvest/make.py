"""Makes files with every structure that libhdf5 writes, for each lower bound.

make.py FOLDER prints the name of each file, its lower bound first.
"""
import ctypes as ct
import os
import re
import sys

import h5py
import numpy as np

BOUNDS = ['earliest', 'v108', 'v110', 'v112', 'v114', 'v200']


def load():
    for line in open('/proc/self/maps'):
        if re.search(r'libhdf5-[0-9a-f]+\.so|libhdf5\.so|libhdf5_serial\.so', line):
            return ct.CDLL(line.split()[-1])
    raise SystemExit('libhdf5 is not loaded')


L = load()
I, U = ct.c_int64, ct.c_uint
for name, *arguments in [
    ('H5Pset_shared_mesg_nindexes', I, U), ('H5Pset_shared_mesg_index', I, U, U, U),
    ('H5Pset_shared_mesg_phase_change', I, U, U), ('H5Pset_attr_phase_change', I, U, U),
    ('H5Pset_link_phase_change', I, U, U), ('H5Pset_est_link_info', I, U, U), ('H5Pset_chunk_opts', I, U),
    ('H5Pset_filter', I, ct.c_int, U, ct.c_size_t, ct.c_void_p), ('H5Pset_sym_k', I, U, U), ('H5Pset_istore_k', I, U),
]:
    getattr(L, name).argtypes, getattr(L, name).restype = arguments, ct.c_int


def groups(f):
    g = f.create_group('few')
    for n in range(3):
        g.create_group(f'child{n}')
    g['soft'] = h5py.SoftLink('/few/child1')
    g['external'] = h5py.ExternalLink('other.h5', '/there')
    g['grüße'] = h5py.SoftLink('/few')
    g['long' * 100] = h5py.SoftLink('/few')
    g['hard'] = g['child0']
    many = f.create_group('many')
    for n in range(300):
        many[f'link{n:03}'] = h5py.SoftLink(f'/few/{n}') if n % 3 else g['child2']
    for n in range(0, 300, 7):
        del many[f'link{n:03}']
    big = f.create_group('big')
    for n in range(40):
        big[f'x{n}' * (1 + n * 30)] = h5py.SoftLink('/a' * (1 + n))
    for order in 1, 3:
        p = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        p.set_link_creation_order(order)
        p.set_attr_creation_order(order)
        for size in 2, 30:
            t = h5py.Group(h5py.h5g.create(f.id, f'tracked{order}{size}'.encode(), gcpl=p))
            for n in range(size):
                t[f'n{n}'] = h5py.SoftLink('/')
                t.attrs[f'a{n}'] = n
    p = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    L.H5Pset_link_phase_change(p.id, 2, 1)
    L.H5Pset_est_link_info(p.id, 7, 20)
    L.H5Pset_attr_phase_change(p.id, 3, 2)
    limits = h5py.Group(h5py.h5g.create(f.id, b'limits', gcpl=p))
    for n in range(5):
        limits[f'n{n}'] = g['child1']
        limits.attrs[f'a{n}'] = n
    h5py.h5o.set_comment(g.id, b'a comment')


def attributes(f):
    f['named'] = np.dtype([('x', 'i4'), ('y', 'f8')])
    g = f.create_group('attributes')
    g.attrs['int'] = 7
    g.attrs['text'] = 'text'
    g.attrs['empty'] = h5py.Empty('f4')
    g.attrs['ümlaut'] = np.arange(5)
    g.attrs.create('ascii', np.zeros(3, 'u1'))
    a = h5py.h5a.create(g.id, b'shared', f['named'].id, h5py.h5s.create_simple((2,)))
    a.write(np.zeros(2, f['named'].dtype))
    dense = f.create_group('dense')
    for n in range(60):
        dense.attrs[f'attribute{n}'] = np.arange(n % 9)
    for n in range(0, 60, 5):
        del dense.attrs[f'attribute{n}']
    if f.libver[0] != 'earliest':
        dense.attrs['huge'] = np.zeros(100_000, 'u1')
        dense.attrs['large'] = np.arange(5_000, dtype='u1')
    text = f.create_dataset('texts', (20,), dtype=h5py.string_dtype())
    text[:] = [f'text {n}' * n for n in range(20)]
    text[3:9] = 'again'


def datasets(f):
    kinds = dict(
        contiguous={}, single=dict(chunks=(40, 30)), single_filtered=dict(chunks=(40, 30), compression=4),
        fixed=dict(chunks=(7, 7)), fixed_filtered=dict(chunks=(7, 7), compression=1, shuffle=True),
        fixed_paged=dict(chunks=(1, 1)), fixed_paged_filtered=dict(chunks=(1, 1), fletcher32=True),
        growing=dict(chunks=(3, 30), maxshape=(None, 30)), growing_filtered=dict(chunks=(3, 3), maxshape=(40, None), lzf=True),
        tree=dict(chunks=(3, 3), maxshape=(None, None)), tree_filtered=dict(chunks=(2, 2), maxshape=(None, None), compression=1),
        scaled=dict(chunks=(8, 8), scaleoffset=3), filled=dict(chunks=(8, 8), fillvalue=9), filled_plain=dict(fillvalue=3),
        track=dict(track_times=True), ordered=dict(track_order=True),
    )
    for name, how in kinds.items():
        if how.pop('lzf', False):
            how['compression'] = 'lzf'
        f.create_dataset(name, data=np.arange(1200, dtype='i4').reshape(40, 30), **how)
    f.create_dataset('empty', (0, 3), maxshape=(None, 3), dtype='f4', chunks=(2, 2))
    f.create_dataset('null', dtype='f4', data=h5py.Empty('f4'))
    f.create_dataset('scalar', data=4.0)
    f.create_dataset('long', (400_000,), chunks=(1,), maxshape=(None,), dtype='u1')[:5_000] = 1
    f['long'][59_000] = 2
    f['long'][250_000:252_000] = 3
    f.create_dataset('sparse', (3000, 3000), chunks=(1, 1), maxshape=(None, None), dtype='u1')
    for n in range(1500):
        f['sparse'][n, n * 7 % 3000] = n % 200 + 1
    f.create_dataset('shrunk', (100, 100), chunks=(5, 5), maxshape=(None, 100), dtype='u1', data=np.ones((100, 100)))
    f['shrunk'].resize((33, 41))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    for name, time in ('early', h5py.h5d.ALLOC_TIME_EARLY), ('late', h5py.h5d.ALLOC_TIME_LATE):
        p.set_alloc_time(time)
        p.set_chunk((4, 4))
        h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((9, 9)), p)
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_layout(h5py.h5d.COMPACT)
    p.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(f.id, b'compact', h5py.h5t.STD_I32LE, h5py.h5s.create_simple((9,)), p)
    if f.libver[0] not in ('earliest', 'v108'):
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk((4, 4))
        p.set_deflate(1)
        L.H5Pset_chunk_opts(p.id, 2)
        h5py.h5d.create(f.id, b'edges', h5py.h5t.STD_I32LE, h5py.h5s.create_simple((9, 9)), p)
    f.create_dataset('external', (100,), 'i4', external=[('a.raw', 0, 200), ('b.raw', 8, h5py.h5f.UNLIMITED)])
    layout = h5py.VirtualLayout((10, 40), 'i4')
    for n in range(5):
        layout[2 * n, 3:33] = h5py.VirtualSource(f'v{n}.h5', 'data', (30,))
    layout[1:10:2, 10:] = h5py.VirtualSource('.', 'contiguous', (40, 30))[:40:8, :]
    f.create_virtual_dataset('virtual', layout, fillvalue=5)
    del f['filled']
    f.create_dataset('filtered_by_name', (20,), 'i4', chunks=(5,))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((5,))
    L.H5Pset_filter(p.id, 32015, 1, 1, (ct.c_uint * 1)(3))
    h5py.h5d.create(f.id, b'optional', h5py.h5t.STD_I32LE, h5py.h5s.create_simple((9,)), p)


def all_of(f):
    groups(f)
    attributes(f)
    datasets(f)


def make(folder, bound, name, fill, fcpl=None, mode=h5py.h5f.ACC_TRUNC, **how):
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    number = {'earliest': h5py.h5f.LIBVER_EARLIEST, 'v108': h5py.h5f.LIBVER_V18, 'v110': h5py.h5f.LIBVER_V110,
              'v112': h5py.h5f.LIBVER_V112, 'v114': h5py.h5f.LIBVER_V114, 'v200': h5py.h5f.LIBVER_V200}[bound]
    fapl.set_libver_bounds(number, h5py.h5f.LIBVER_LATEST)
    if how.get('family'):
        fapl.set_fapl_family(how['family'])
    path = os.path.join(folder, f'{bound}-{name}.h5')
    with h5py.File(h5py.h5f.create(path.encode(), mode, fcpl or h5py.h5p.create(h5py.h5p.FILE_CREATE), fapl)) as f:
        fill(f)
    print(bound, os.path.basename(path % 0 if '%' in path else path))


def space(f):
    for n in range(30):
        f.create_dataset(f'd{n}', data=np.zeros(50 + 7 * n, 'u1'))
        f.create_group(f'g{n}').attrs['a'] = np.zeros(100)
    for n in range(0, 30, 3):
        del f[f'd{n}']
    for n in range(0, 30, 4):
        del f[f'g{n}']


def shared(f):
    for n in range(12):
        d = f.create_dataset(f'd{n}', (n % 4 + 1,), 'i4' if n % 2 else 'f8', chunks=(1,), compression=1, fillvalue=n % 3)
        d.attrs['same'] = np.arange(20)
        d.attrs['other'] = np.arange(20 + n % 2)


def large(f):
    for name, how in ('fixed', {}), ('growing', dict(maxshape=(None,))), ('filtered', dict(compression=1)):
        f.create_dataset(name, (6 << 30,), 'u1', chunks=(5 << 30,), **how)
    f.create_dataset('elements', (3, 3), f'V{1 << 20}', chunks=(1, 2))


def variants(folder, bound):
    # With lengths of two bytes, libhdf5 cannot read its own fractal heaps.
    for offsets, lengths in [(4, 4), (8, 4), (4, 8)] + [(2, 2)] * (bound == 'earliest'):
        fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        fcpl.set_sizes(offsets, lengths)
        make(folder, bound, f'sizes{offsets}{lengths}', all_of if offsets == lengths == 4 else space, fcpl)
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    L.H5Pset_sym_k(fcpl.id, 3, 2)
    L.H5Pset_istore_k(fcpl.id, 5)
    fcpl.set_userblock(512)
    make(folder, bound, 'k', all_of, fcpl)
    for strategy in range(4):
        fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        fcpl.set_file_space_strategy(strategy, strategy < 2, 2)
        make(folder, bound, f'space{strategy}', all_of if strategy == 0 else space, fcpl)
    for most, least in (5, 4), (50, 40), (0, 0):
        fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        L.H5Pset_shared_mesg_nindexes(fcpl.id, 2)
        L.H5Pset_shared_mesg_index(fcpl.id, 0, 0x10, 20)
        L.H5Pset_shared_mesg_index(fcpl.id, 1, 0x0f, 8)
        L.H5Pset_shared_mesg_phase_change(fcpl.id, most, least)
        make(folder, bound, f'shared{most}', shared, fcpl)
    make(folder, bound, 'family%d', groups, family=1 << 20)


folder = sys.argv[1]
for bound in BOUNDS:
    make(folder, bound, 'all', all_of)
    make(folder, bound, 'large', large)
    if bound in ('earliest', 'v108', 'v200'):
        variants(folder, bound)
