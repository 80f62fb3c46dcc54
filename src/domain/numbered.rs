//! What is numbered in the order in which it comes, and mostly goes in that order too: jobs, claims, keys that expire.

use std::collections::VecDeque;

/// Places of a page: few enough that one which is left over on each page wastes little.
const PAGE: usize = 64;

/// A sparse list of what has a number, by number.
///
/// Found by arithmetic, without a hash; and no insertion ever moves what is
/// there already, so a decision never waits while a million jobs move house.
/// An empty page costs nothing but its place in the list of pages.
#[derive(Debug, Clone)]
pub struct Numbered<T> {
    pages: VecDeque<Option<Box<Page<T>>>>,
    /// The number of the first page that there is a place for.
    first: u64,
    length: usize,
}

#[derive(Debug, Clone)]
struct Page<T> {
    places: [Option<T>; PAGE],
    taken: usize,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { pages: VecDeque::new(), first: 0, length: 0 }
    }
}

impl<T> Numbered<T> {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn get(&self, number: u64) -> Option<&T> {
        self.pages.get(self.page(number)?)?.as_ref()?.places[place(number)].as_ref()
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let page = self.page(number)?;
        self.pages.get_mut(page)?.as_mut()?.places[place(number)].as_mut()
    }

    /// Answers with what had the number before.
    pub fn insert(&mut self, number: u64, value: T) -> Option<T> {
        let page = self.room_for(number).get_or_insert_with(|| Box::new(Page::new()));
        let was = page.places[place(number)].replace(value);
        page.taken += usize::from(was.is_none());
        self.length += usize::from(was.is_none());
        was
    }

    pub fn remove(&mut self, number: u64) -> Option<T> {
        let at = self.page(number)?;
        let slot = self.pages.get_mut(at)?;
        let page = slot.as_mut()?;
        let was = page.places[place(number)].take()?;
        page.taken -= 1;
        self.length -= 1;
        if page.taken == 0 {
            *slot = None;
            self.trim();
        }
        Some(was)
    }

    /// In the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (self.first..).zip(&self.pages).filter_map(|(number, page)| Some((number, page.as_ref()?))).flat_map(
            |(number, page)| {
                (number * PAGE as u64..).zip(&page.places).filter_map(|(number, value)| Some((number, value.as_ref()?)))
            },
        )
    }

    /// The index of the page that the number is on, if it is not before all of them.
    fn page(&self, number: u64) -> Option<usize> {
        usize::try_from((number / PAGE as u64).checked_sub(self.first)?).ok()
    }

    fn room_for(&mut self, number: u64) -> &mut Option<Box<Page<T>>> {
        let page = number / PAGE as u64;
        if self.pages.is_empty() {
            self.first = page;
        }
        while page < self.first {
            self.pages.push_front(None);
            self.first -= 1;
        }
        while self.first + self.pages.len() as u64 <= page {
            self.pages.push_back(None);
        }
        &mut self.pages[(page - self.first) as usize]
    }

    fn trim(&mut self) {
        while self.pages.pop_front_if(|page| page.is_none()).is_some() {
            self.first += 1;
        }
        while self.pages.pop_back_if(|page| page.is_none()).is_some() {}
    }
}

impl<T> Page<T> {
    fn new() -> Self {
        Self { places: [const { None }; PAGE], taken: 0 }
    }
}

fn place(number: u64) -> usize {
    (number % PAGE as u64) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_sorted_map(steps in vec((0..400_u64, any::<bool>()), 0..400)) {
            let (mut list, mut map) = (Numbered::default(), BTreeMap::new());
            for (at, (number, stays)) in steps.into_iter().enumerate() {
                let number = number + 10_000;
                if stays {
                    prop_assert_eq!(list.insert(number, at), map.insert(number, at));
                } else {
                    prop_assert_eq!(list.remove(number), map.remove(&number));
                }
                prop_assert_eq!(list.len(), map.len());
                prop_assert_eq!(list.get(number), map.get(&number));
                prop_assert_eq!(list.get_mut(number), map.get_mut(&number));
                prop_assert!(list.pages.len() <= 8);
            }
            prop_assert!(list.iter().eq(map.iter().map(|(number, value)| (*number, value))));
        }
    }

    #[test]
    fn numbers_that_nothing_has_have_nothing() {
        let mut list = Numbered::default();
        list.insert(1_000, 'a');
        for number in [0, 999, 1_001, u64::MAX] {
            assert_eq!(list.get(number), None);
            assert_eq!(list.remove(number), None);
        }
    }
}
