//! Which jobs can all start at once: a flow from queues to cells of idle workers, grown by augmenting paths.
//!
//! The sets of jobs that can be matched to distinct workers form a transversal
//! matroid (J. Edmonds and D. R. Fulkerson, "Transversals and matroid
//! partition", 1965), with capped offers a gammoid. So going through the jobs
//! from the most important one, and accepting each that still fits, gives the
//! lexicographically best set. Jobs of one queue are alike, workers of one
//! cell are alike; what flows between them are numbers.

use std::collections::VecDeque;

/// The flow of one decision. Queues, cells and caps are numbered from 0.
#[derive(Debug, Default)]
pub struct Flow {
    /// The cells that each queue may use.
    pub queues: Vec<Vec<usize>>,
    pub cells: Vec<FlowCell>,
    /// How many more jobs each capped offer takes.
    pub caps: Vec<usize>,
}

#[derive(Debug, Default)]
pub struct FlowCell {
    /// Idle workers.
    pub workers: usize,
    pub cap: Option<usize>,
    /// Those of them that accepted jobs will need.
    used: usize,
    /// By which queues; never 0.
    users: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Cell(usize),
    Cap(usize),
}

/// How the search came to a cell.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The new job would go to it.
    Start,
    /// A job of this queue would move to it from that cell.
    Moved { queue: usize, from: usize },
    /// It would give up a worker, for another cell of the same offer to use one.
    Drained { cap: usize },
}

impl FlowCell {
    pub fn new(workers: usize, cap: Option<usize>) -> Self {
        Self { workers, cap, used: 0, users: Vec::new() }
    }

    fn add(&mut self, queue: usize) {
        match self.users.iter_mut().find(|(user, _)| *user == queue) {
            Some((_, jobs)) => *jobs += 1,
            None => self.users.push((queue, 1)),
        }
    }

    fn remove(&mut self, queue: usize) {
        let at = self.users.iter().position(|(user, _)| *user == queue).expect("a queue leaves a cell that it uses");
        self.users[at].1 -= 1;
        if self.users[at].1 == 0 {
            self.users.swap_remove(at);
        }
    }

    fn is_used_by(&self, queue: usize) -> bool {
        self.users.iter().any(|(user, _)| *user == queue)
    }
}

impl Flow {
    /// Accepts one more job of a queue if all accepted ones can still start,
    /// and `reserve` more of the queue could, too.
    pub fn accept(&mut self, queue: usize, reserve: u32) -> bool {
        let placed = (0..=reserve).take_while(|_| self.augment(queue, None)).count();
        let accepted = placed > reserve as usize;
        for _ in usize::from(accepted)..placed {
            self.take_back(queue);
        }
        accepted
    }

    /// Takes one job of the queue out of the flow.
    fn take_back(&mut self, queue: usize) {
        let cell = self.used_by(queue);
        self.cells[cell].remove(queue);
        self.release(cell);
    }

    /// A cell that an accepted job of the queue is in.
    fn used_by(&self, queue: usize) -> usize {
        let mut cells = self.queues[queue].iter().copied();
        cells.find(|cell| self.cells[*cell].is_used_by(queue)).expect("an accepted job is in one of its queue's cells")
    }

    /// Gives an accepted job of the queue a worker of this cell for good, if
    /// all other accepted jobs can still start.
    pub fn give(&mut self, queue: usize, cell: usize) -> bool {
        if !self.cells[cell].is_used_by(queue) && !self.reroute(queue, cell) {
            return false;
        }
        // The worker is gone, and so is the job: what its offer may give stays used.
        let given = &mut self.cells[cell];
        given.remove(queue);
        given.used -= 1;
        given.workers -= 1;
        true
    }

    /// Moves one job of the queue to this cell from any other.
    fn reroute(&mut self, queue: usize, to: usize) -> bool {
        let from = self.used_by(queue);
        self.cells[from].remove(queue);
        self.release(from);
        if self.augment(queue, Some(to)) {
            return true;
        }
        self.cells[from].add(queue);
        self.fill(from);
        false
    }

    fn fill(&mut self, cell: usize) {
        self.cells[cell].used += 1;
        if let Some(cap) = self.cells[cell].cap {
            self.caps[cap] -= 1;
        }
    }

    fn release(&mut self, cell: usize) {
        self.cells[cell].used -= 1;
        if let Some(cap) = self.cells[cell].cap {
            self.caps[cap] += 1;
        }
    }

    fn has_room(&self, cell: usize) -> bool {
        let cell = &self.cells[cell];
        cell.used < cell.workers && cell.cap.is_none_or(|cap| self.caps[cap] > 0)
    }

    /// Searches, breadth first, for a way to place one more job of the queue,
    /// in any of its cells or in this one `only`; then goes that way.
    fn augment(&mut self, queue: usize, only: Option<usize>) -> bool {
        let starts = only.as_ref().map_or(self.queues[queue].as_slice(), std::slice::from_ref);
        if let Some(&cell) = starts.iter().find(|cell| self.has_room(**cell)) {
            self.cells[cell].add(queue);
            self.fill(cell);
            return true;
        }
        let mut search = Search::new(self.cells.len(), self.caps.len());
        for &cell in starts {
            search.reach_cell(cell, Step::Start);
        }
        while let Some(node) = search.open.pop_front() {
            match node {
                Node::Cell(cell) if self.has_room(cell) => {
                    self.fill(cell);
                    self.go_back(queue, cell, &search);
                    return true;
                }
                Node::Cell(cell) => self.search_from(cell, &mut search),
                Node::Cap(cap) => {
                    let drainable = self.cells.iter().enumerate().filter(|(_, cell)| cell.cap == Some(cap));
                    for (cell, _) in drainable.filter(|(_, cell)| cell.used > 0) {
                        search.reach_cell(cell, Step::Drained { cap });
                    }
                }
            }
        }
        false
    }

    fn search_from(&self, at: usize, search: &mut Search) {
        let cell = &self.cells[at];
        if let Some(cap) = cell.cap.filter(|_| cell.used < cell.workers) {
            search.reach_cap(cap, at);
        }
        for &(user, _) in &cell.users {
            for &other in &self.queues[user] {
                search.reach_cell(other, Step::Moved { queue: user, from: at });
            }
        }
    }

    /// Carries out what a search has found, from its end to its start.
    fn go_back(&mut self, queue: usize, end: usize, search: &Search) {
        let mut at = end;
        loop {
            match search.cells[at].expect("a cell on the way was reached") {
                Step::Start => return self.cells[at].add(queue),
                Step::Moved { queue, from } => {
                    self.cells[at].add(queue);
                    self.cells[from].remove(queue);
                    at = from;
                }
                Step::Drained { cap } => {
                    self.cells[at].used -= 1;
                    at = search.caps[cap].expect("a cap on the way was reached");
                    self.cells[at].used += 1;
                }
            }
        }
    }
}

/// How the nodes that were reached were reached, and which of them are still to be searched from.
struct Search {
    cells: Vec<Option<Step>>,
    /// From a cell that has a free worker, while its offer is used up.
    caps: Vec<Option<usize>>,
    open: VecDeque<Node>,
}

impl Search {
    fn new(cells: usize, caps: usize) -> Self {
        Self { cells: vec![None; cells], caps: vec![None; caps], open: VecDeque::new() }
    }

    fn reach_cell(&mut self, cell: usize, step: Step) {
        if self.cells[cell].is_none() {
            self.cells[cell] = Some(step);
            self.open.push_back(Node::Cell(cell));
        }
    }

    fn reach_cap(&mut self, cap: usize, from: usize) {
        if self.caps[cap].is_none() {
            self.caps[cap] = Some(from);
            self.open.push_back(Node::Cap(cap));
        }
    }
}
