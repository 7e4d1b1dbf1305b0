CREATE TABLE `dropped_counters` (
	`wallet_id` text NOT NULL,
	`limit_id` text NOT NULL,
	`period_start_ms` integer NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`wallet_id`, `limit_id`, `period_start_ms`)
);
--> statement-breakpoint
CREATE TABLE `dropped_receipts` (
	`wallet_id` text PRIMARY KEY NOT NULL,
	`receipts` integer NOT NULL,
	`captured_high` integer NOT NULL,
	`captured_low` integer NOT NULL,
	`refunded_high` integer NOT NULL,
	`refunded_low` integer NOT NULL,
	`above_high` integer NOT NULL,
	`above_low` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `retention` (
	`id` integer PRIMARY KEY NOT NULL,
	`receipts_from_ms` integer NOT NULL,
	`cleared_to_ms` integer NOT NULL,
	`seen_at_ms` integer NOT NULL,
	`paused_until_ms` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `retention` VALUES (1, 0, 0, 0, 0);
