//! Reads a static tree, all of it or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Formatter};
use std::fs::{self, Metadata};
use std::io;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::TreeFault;
use super::views::{Disagreement, compare};
use crate::adapters::name_lists::{Name, NameList, once, problem};
use crate::domain::allocator::Builders;
use crate::domain::{BadName, BuilderName, WorkerName};

/// What a tree says.
#[derive(Debug, Clone, PartialEq)]
pub struct StaticTree {
    /// As in `v1/builders/*`: lists may be empty and machines repeated, for the domain to judge.
    pub builders: Builders,
    /// What the other two views say differently.
    pub disagreements: Vec<Disagreement>,
}

/// Reads the tree in `folder`, which holds `v1` or is `v1`.
///
/// # Errors
/// The first file that cannot be read or has another form, with its path.
pub fn read(folder: &Path) -> Result<StaticTree, TreeFault> {
    let v1 = find_v1(folder)?;
    let builders = read_view::<BuilderName, WorkerName>(&v1.join("builders"), "machines")?;
    let machines_folder = machines_folder(&v1);
    let machines = match is_folder(&machines_folder)? {
        true => Some(read_view::<WorkerName, BuilderName>(&machines_folder, "builders")?),
        false => None,
    };
    let all_file = all_file(&v1);
    let all = match all_file.try_exists().map_err(TreeFault::io("look at", &all_file))? {
        true => Some(BTreeSet::from_iter(read_list::<WorkerName>(&all_file, "machines")?)),
        false => None,
    };
    let disagreements = compare(&builders, machines.as_ref(), all.as_ref());
    Ok(StaticTree { builders, disagreements })
}

pub(super) fn machines_folder(v1: &Path) -> PathBuf {
    v1.join("machines")
}

pub(super) fn all_file(v1: &Path) -> PathBuf {
    v1.join("allocated/all")
}

pub(super) fn find_v1(folder: &Path) -> Result<PathBuf, TreeFault> {
    for v1 in [folder.join("v1"), folder.to_owned()] {
        if is_folder(&v1.join("builders"))? {
            return Ok(v1);
        }
    }
    Err(TreeFault::NotATree(folder.to_owned()))
}

pub(super) fn is_folder(path: &Path) -> Result<bool, TreeFault> {
    match fs::metadata(path) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(TreeFault::io("look at", path)(error)),
    }
}

/// Every file of a view: its path below the view is the name, its list is under `key`.
fn read_view<K: Name + Ord, N: Name>(view: &Path, key: &'static str) -> Result<BTreeMap<K, Vec<N>>, TreeFault> {
    let mut lists = BTreeMap::new();
    for path in files_below(view)?.into_keys() {
        let name = path.strip_prefix(view).expect("the walk began at the view").as_os_str();
        let name = parse_name(name.as_bytes()).map_err(|source| TreeFault::Name { path: path.clone(), source })?;
        lists.insert(name, read_list(&path, key)?);
    }
    Ok(lists)
}

fn parse_name<K: Name>(bytes: &[u8]) -> Result<K, BadName> {
    let text = std::str::from_utf8(bytes).map_err(|error| BadName::NotUtf8 { at: error.valid_up_to() })?;
    K::parse(text)
}

/// All files below a folder, sorted, so that the same tree has the same first fault.
pub(super) fn files_below(view: &Path) -> Result<BTreeMap<PathBuf, Metadata>, TreeFault> {
    let mut files = BTreeMap::new();
    let mut folders = vec![view.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(TreeFault::io("list", &folder))? {
            let path = entry.map_err(TreeFault::io("list", &folder))?.path();
            let found = fs::metadata(&path).map_err(TreeFault::io("look at", &path))?;
            if found.is_dir() {
                folders.push(path);
            } else if found.is_file() {
                files.insert(path, found);
            } else {
                return Err(TreeFault::Odd(path));
            }
        }
    }
    Ok(files)
}

fn read_list<N: Name>(path: &Path, key: &'static str) -> Result<Vec<N>, TreeFault> {
    let bytes = fs::read(path).map_err(TreeFault::io("read", path))?;
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    let list = ListFile { key, list: PhantomData }.deserialize(&mut json);
    list.and_then(|list| json.end().map(|()| list)).map_err(|error| TreeFault::Content {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        problem: problem(&error),
    })
}

/// `{"<key>": [names…]}`; further keys are ignored.
struct ListFile<N> {
    key: &'static str,
    list: PhantomData<N>,
}

impl<'de, N: Name> DeserializeSeed<'de> for ListFile<N> {
    type Value = Vec<N>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<N>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, N: Name> Visitor<'de> for ListFile<N> {
    type Value = Vec<N>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the key {:?}", self.key)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Vec<N>, A::Error> {
        let place = format!("{:?}", self.key);
        let mut list = None;
        while let Some(key) = object.next_key::<String>()? {
            if key == self.key {
                once(&mut list, &key, object.next_value_seed(NameList::at(&place))?)?;
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        list.ok_or_else(|| A::Error::custom(format_args!("there is no key {place}")))
    }
}
