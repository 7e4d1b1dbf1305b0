CREATE TABLE `gateways` (
	`id` text PRIMARY KEY NOT NULL,
	`has_redis` integer NOT NULL,
	`seen_at_ms` integer NOT NULL
);
