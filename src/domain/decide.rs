//! The one way from a command to events, and from events to what follows from them.

use super::{Command, Done, Event, Farm, Refusal, Reply, Timestamp, Volatile, access, allocator, dispatcher, fleet};

impl Farm {
    /// Decides a command, takes in what happens, and what follows from it.
    /// Pure: the same farm, volatile side, time and command give the same.
    pub fn carry_out(&mut self, volatile: &mut Volatile, now: Timestamp, command: Command) -> Result<Done, Refusal> {
        let Done { mut events, reply } = self.take(volatile, now, command)?;
        self.react(volatile, now, &mut events);
        Ok(Done { events, reply })
    }

    /// Decides a command and takes in its events. What follows is left to
    /// [`react`](Self::react), so that several commands can be one event.
    pub fn take(&mut self, volatile: &mut Volatile, now: Timestamp, command: Command) -> Result<Done, Refusal> {
        let mut done = self.decide(volatile, now, command)?;
        self.apply_all(volatile, &done.events);
        self.vacate(volatile, now, &mut done.events);
        Ok(done)
    }

    /// Takes back allocations whose workers have gone with a change of the fleet.
    fn vacate(&mut self, volatile: &mut Volatile, now: Timestamp, events: &mut Vec<Event>) {
        for at in 0..events.len() {
            if let Event::Fleet(change) = &events[at]
                && let Some(vacated) = allocator::vacated(&self.fleet, &self.allocations, now, change)
            {
                let vacated = Event::Allocator(vacated);
                self.apply_all(volatile, std::slice::from_ref(&vacated));
                events.push(vacated);
            }
        }
    }

    /// Takes in what follows from all that has changed since the last time, and adds it to `events`.
    pub fn react(&mut self, volatile: &mut Volatile, now: Timestamp, events: &mut Vec<Event>) {
        loop {
            let followed = wrap(Event::Dispatcher, dispatcher::react(self.dispatched(), &mut volatile.board, now));
            if followed.is_empty() {
                return;
            }
            self.apply_all(volatile, &followed);
            events.extend(followed);
        }
    }

    /// What the dispatcher looks at.
    pub fn dispatched(&self) -> dispatcher::Farm<'_> {
        dispatcher::Farm { fleet: &self.fleet, allocations: &self.allocations, jobs: &self.jobs }
    }

    /// What a command would make happen, without what would follow from it. For
    /// dry runs, which see no offers.
    pub fn plan(&self, now: Timestamp, command: Command) -> Result<Vec<Event>, Refusal> {
        Ok(self.decide(&mut Volatile::default(), now, command)?.events)
    }

    /// When something is due: the next tick.
    pub fn next_deadline(&self, volatile: &Volatile) -> Option<Timestamp> {
        volatile.board.next_deadline(&self.jobs)
    }

    fn apply_all(&mut self, volatile: &mut Volatile, events: &[Event]) {
        for event in events {
            volatile.note(self, event);
            self.apply(event);
        }
    }

    fn decide(&self, volatile: &mut Volatile, now: Timestamp, command: Command) -> Result<Done, Refusal> {
        let events = match command {
            Command::Fleet(command) => wrap(Event::Fleet, fleet::decide(&self.fleet, now, command)?),
            Command::Allocator(command) => {
                wrap(Event::Allocator, allocator::decide(&self.fleet, &self.allocations, now, command)?)
            }
            Command::Access(command) => wrap(Event::Access, access::decide(&self.access, now, command)?),
            Command::Dispatcher(command) => {
                let (events, reply) = dispatcher::decide(&self.fleet, &self.jobs, &mut volatile.board, now, command)?;
                return Ok(Done { events: wrap(Event::Dispatcher, events), reply: Reply::Dispatcher(reply) });
            }
            Command::Authorized { token, .. } if !self.access.knows(&token) => {
                return Err(access::Refusal::TokenRevoked.into());
            }
            Command::Authorized { command, .. } => return self.decide(volatile, now, *command),
        };
        Ok(Done { events, reply: Reply::Events })
    }
}

fn wrap<T>(part: fn(T) -> Event, events: Vec<T>) -> Vec<Event> {
    events.into_iter().map(part).collect()
}
