CREATE TABLE `auto_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`customer_id` text NOT NULL,
	`payment_method_id` text NOT NULL,
	`month` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at_ms` integer,
	`intent_id` text,
	`paid_at_ms` integer,
	`credited_at_ms` integer,
	`failed_at_ms` integer,
	`failure` text
);
--> statement-breakpoint
CREATE INDEX `auto_payments_account` ON `auto_payments` (`account_id`,`month`);--> statement-breakpoint
CREATE INDEX `auto_payments_next` ON `auto_payments` (`next_at_ms`);--> statement-breakpoint
CREATE INDEX `auto_payments_open` ON `auto_payments` (`account_id`) WHERE failed_at_ms IS NULL AND credited_at_ms IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `auto_payments_intent` ON `auto_payments` (`intent_id`);--> statement-breakpoint
CREATE TABLE `auto_top_ups` (
	`account_id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`below` integer NOT NULL,
	`amount` integer NOT NULL,
	`month_max` integer NOT NULL,
	`customer_id` text,
	`payment_method_id` text,
	`card` text,
	`crossings` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`capped_month` text,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `card_setups` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`used_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `reversals` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`account_id` text NOT NULL,
	`payment_id` text NOT NULL,
	`reversed` integer NOT NULL,
	`amount` integer NOT NULL,
	`effect` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`booked_at_ms` integer,
	`returned_at_ms` integer,
	`return_booked_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `reversals_payment` ON `reversals` (`payment_id`);--> statement-breakpoint
ALTER TABLE `checkouts` ADD `intent_id` text;--> statement-breakpoint
ALTER TABLE `checkouts` ADD `paid_total` integer;--> statement-breakpoint
CREATE INDEX `checkouts_intent` ON `checkouts` (`intent_id`);